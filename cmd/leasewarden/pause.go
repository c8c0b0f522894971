package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func newPauseCommand(clock clock.Clock) *cobra.Command {
	h := &hand{clock: clock}
	c := &cobra.Command{
		Use:   "pause LEASE",
		Short: "Leaves a Lease alone: any candidate may acquire it.",
		Long: `Leaves a Lease alone: whichever candidate tries first acquires it, as if there
were no policy, and nobody is made to step down. What is no candidate still may
not have it. LEASE is NAME or NAMESPACE/NAME; it need not be governed yet. The
pause is written to spec.paused of the Election, and stays until it is resumed.`,
		Example: `  leasewarden pause -n kube-system kube-scheduler`,
		Args:    exactArgs("LEASE"),
		RunE:    func(c *cobra.Command, args []string) error { return h.pause(c, args[0]) },
	}
	h.addFlags(c)
	return c
}

func (h *hand) pause(c *cobra.Command, lease string) error {
	e, err := h.election(c.Context(), lease)
	if none := (noElection{}); errors.As(err, &none) {
		return h.pauseBefore(c, none)
	}
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(e)
	if e.Spec.Paused {
		fmt.Fprintf(c.OutOrStdout(), "The election of %s is paused already (now %s).\n", key, describeHolder(e))
		return nil
	}
	if err := h.want(c.Context(), e, map[string]any{"paused": true}); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "The election of %s is paused: any candidate may acquire it (now %s).\n", key, describeHolder(e))
	return nil
}

// pauseBefore pauses a Lease that nothing is published of yet.
func (h *hand) pauseBefore(c *cobra.Command, none noElection) error {
	e := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: none.lease.Namespace, Name: none.lease.Name}}
	e.Spec.Paused = true
	if err := h.client.Create(c.Context(), e, client.FieldOwner(handFieldManager)); err != nil {
		return fmt.Errorf("writing Election %s: %w", none.lease, err)
	}
	fmt.Fprintf(c.OutOrStdout(), "The election of %s is paused. No policy governs it now; should one do so, it leaves the Lease alone until it is resumed.\n", none.lease)
	return nil
}
