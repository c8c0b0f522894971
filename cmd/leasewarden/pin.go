package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// pinOptions are the flags of the command pin.
type pinOptions struct {
	hand
	force bool
}

func newPinCommand(clock clock.Clock) *cobra.Command {
	o := &pinOptions{hand: hand{clock: clock}}
	c := &cobra.Command{
		Use:   "pin LEASE CANDIDATE",
		Short: "Holds a Lease on one candidate while that may lead.",
		Long: `Holds a Lease on one candidate: it is chosen whatever the strategy says, and
another holder is made to step down. While the candidate is not eligible (it
restarts, it hangs), the strategy chooses, so that the Lease is never left
vacant. LEASE is NAME or NAMESPACE/NAME. The pin is written to spec.pin of the
Election, and stays until it is removed.

Exit status: 0 if the Lease is pinned there, 2 if it was refused and nothing was
written, 1 for any other failure.`,
		Example: `  leasewarden pin -n kube-system kube-scheduler kube-scheduler-cp-2`,
		Args:    exactArgs("LEASE", "CANDIDATE"),
		RunE:    func(c *cobra.Command, args []string) error { return o.run(c, args[0], args[1]) },
	}
	o.addFlags(c)
	o.completeLeases(c, o.completeCandidates)
	c.Flags().BoolVar(&o.force, "force", false, "also pin to a candidate that is not there, or may not lead now")
	return c
}

func (o *pinOptions) run(c *cobra.Command, lease, candidate string) error {
	e, err := o.governed(c.Context(), lease)
	if err != nil {
		return err
	}
	key, out := client.ObjectKeyFromObject(e), c.OutOrStdout()
	if e.Spec.Pin == candidate {
		fmt.Fprintf(out, "%s is pinned to %s already (now %s).\n", key, candidate, describeHolder(e))
		return nil
	}
	if err := checkTarget(e, candidate); err != nil && !o.force {
		return unusable(fmt.Errorf("%w; --force pins all the same", err))
	}
	old := e.Spec.Pin
	if err := o.want(c.Context(), e, map[string]any{"pin": candidate}); err != nil {
		return err
	}
	fmt.Fprintln(out, pinned(e, candidate, old))
	return nil
}

// pinned says what was written, and what comes of it.
func pinned(e *v1alpha1.Election, candidate, old string) string {
	text := fmt.Sprintf("%s is pinned to %s", client.ObjectKeyFromObject(e), candidate)
	if old != "" {
		text += " instead of " + old
	}
	switch {
	case e.Spec.Paused:
		return text + ". The election is paused, so nothing comes of it before that ends."
	case e.Status.Mode != v1alpha1.Enforce:
		return fmt.Sprintf("%s. %s is in mode %s, so nobody is made to step down.", text, e.Status.Policy, e.Status.Mode)
	case leads(e, candidate):
		return text + ", which holds it."
	case e.Status.Holder == nil:
		return text + "."
	}
	return fmt.Sprintf("%s: %s, which holds it, is made to step down.", text, e.Status.Holder.Name)
}
