package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newUnpinCommand(clock clock.Clock) *cobra.Command {
	h := &hand{clock: clock}
	c := &cobra.Command{
		Use:   "unpin LEASE",
		Short: "Lets the strategy choose again for a Lease that is pinned.",
		Long: `Removes spec.pin from the Election of a Lease, so that the strategy chooses
again. Nobody is made to step down by that alone: whether a better candidate
takes over is up to the policy. LEASE is NAME or NAMESPACE/NAME.`,
		Example: `  leasewarden unpin -n kube-system kube-scheduler`,
		Args:    exactArgs("LEASE"),
		RunE:    func(c *cobra.Command, args []string) error { return h.unpin(c, args[0]) },
	}
	h.addFlags(c)
	return c
}

func (h *hand) unpin(c *cobra.Command, lease string) error {
	e, err := h.election(c.Context(), lease)
	if err != nil {
		return err
	}
	key, pin := client.ObjectKeyFromObject(e), e.Spec.Pin
	if pin == "" {
		fmt.Fprintf(c.OutOrStdout(), "%s is not pinned: there is nothing to do.\n", key)
		return nil
	}
	if err := h.want(c.Context(), e, map[string]any{"pin": nil}); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s is not pinned to %s any more (now %s).\n", key, pin, describeHolder(e))
	return nil
}
