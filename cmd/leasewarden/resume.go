package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newResumeCommand(clock clock.Clock) *cobra.Command {
	h := &hand{clock: clock}
	c := &cobra.Command{
		Use:   "resume LEASE",
		Short: "Lets the policy of a paused Lease decide again.",
		Long: `Removes spec.paused from the Election of a Lease, so that its policy decides
again. LEASE is NAME or NAMESPACE/NAME.`,
		Example: `  leasewarden resume -n kube-system kube-scheduler`,
		Args:    exactArgs("LEASE"),
		RunE:    func(c *cobra.Command, args []string) error { return h.resume(c, args[0]) },
	}
	h.addFlags(c)
	return c
}

func (h *hand) resume(c *cobra.Command, lease string) error {
	e, err := h.election(c.Context(), lease)
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(e)
	if !e.Spec.Paused {
		fmt.Fprintf(c.OutOrStdout(), "The election of %s is not paused: there is nothing to do.\n", key)
		return nil
	}
	if err := h.want(c.Context(), e, map[string]any{"paused": nil}); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "The election of %s goes on (now %s).\n", key, describeHolder(e))
	return nil
}
