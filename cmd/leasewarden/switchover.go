package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// switchoverOptions are the flags of the command switchover.
type switchoverOptions struct {
	hand
	to, at  string
	wait    bool
	timeout time.Duration
}

func newSwitchoverCommand(clock clock.Clock) *cobra.Command {
	o := &switchoverOptions{hand: hand{clock: clock}}
	c := &cobra.Command{
		Use:   "switchover LEASE --to CANDIDATE [--at TIME] [--wait]",
		Short: "Moves a Lease to another candidate, once.",
		Long: `Moves a Lease to another candidate, once: the candidate is chosen, and the holder
is made to step down. When that is done, the strategy chooses again as before; to
keep a Lease where it is, pin it.

LEASE is NAME or NAMESPACE/NAME. What cannot be done is refused before anything
is written. A switchover that is not done in time has failed, and changes nothing
any more. It is written to spec.switchover of the Election, and answered in
status.switchover.

Exit status: 0 if it was requested, or is done with --wait; 1 if it failed or
was not done in time; 2 if it was refused and nothing was written.`,
		Example: `  leasewarden switchover -n kube-system kube-scheduler --to kube-scheduler-cp-2 --wait
  leasewarden switchover kube-system/kube-scheduler --to kube-scheduler-cp-2 --at 2026-01-31T02:00:00Z`,
		Args: exactArgs("LEASE"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args[0]) },
	}
	o.addFlags(c)
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "the candidate that is to lead")
	cobra.CheckErr(c.RegisterFlagCompletionFunc("to", o.completeCandidates))
	f.StringVar(&o.at, "at", "", "when to begin, such as 2026-01-31T15:04:05Z; default: at once")
	f.BoolVar(&o.wait, "wait", false, "wait until it is done, and say what is waited for")
	f.DurationVar(&o.timeout, "timeout", v1alpha1.DefaultSwitchoverTimeout, "how long it may take from its beginning, 1s to 1h")
	return c
}

func (o *switchoverOptions) run(c *cobra.Command, lease string) error {
	request, err := o.request()
	if err != nil {
		return unusable(err)
	}
	e, err := o.governed(c.Context(), lease)
	if err != nil {
		return err
	}
	key, out := client.ObjectKeyFromObject(e), c.OutOrStdout()
	if request.At == nil && leads(e, o.to) {
		fmt.Fprintf(out, "%s leads %s already: there is nothing to do.\n", o.to, key)
		return nil
	}
	if err := refuseSwitchover(e, request); err != nil {
		return unusable(err)
	}
	warnOfReplaced(c.ErrOrStderr(), e, request)
	if err := o.put(c.Context(), e, request); err != nil {
		return err
	}
	fmt.Fprintln(out, requested(e, request))
	if !o.wait {
		fmt.Fprintf(out, "See how it goes with: leasewarden status %s --watch\n", key)
		return nil
	}
	return o.await(c, e, request)
}

// request is what the flags ask for.
func (o *switchoverOptions) request() (*v1alpha1.Switchover, error) {
	if o.to == "" {
		return nil, errors.New("--to is missing: name the candidate that is to lead")
	}
	if o.timeout < time.Second || o.timeout > time.Hour {
		return nil, fmt.Errorf("--timeout: %s is not from 1s to 1h", o.timeout)
	}
	request := &v1alpha1.Switchover{To: o.to, Timeout: &metav1.Duration{Duration: o.timeout}}
	if o.at == "" {
		return request, nil
	}
	at, err := time.Parse(time.RFC3339, o.at)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--at: %q is not a time such as 2026-01-31T15:04:05Z", o.at)
	case !at.After(o.clock.Now()):
		return nil, fmt.Errorf("--at: %s is over; leave it out to begin at once", o.at)
	}
	request.At = &metav1.Time{Time: at.Truncate(time.Second)}
	return request, nil
}

// refuseSwitchover says why a switchover cannot be done.
func refuseSwitchover(e *v1alpha1.Election, request *v1alpha1.Switchover) error {
	key := client.ObjectKeyFromObject(e)
	switch {
	case e.Status.Mode != v1alpha1.Enforce:
		return fmt.Errorf("%s of Lease %s is in mode %s, which moves nothing", e.Status.Policy, key, e.Status.Mode)
	case e.Spec.Paused:
		return fmt.Errorf("the election of %s is paused: resume it first with \"leasewarden resume %s\"", key, key)
	case e.Spec.Pin != "" && e.Spec.Pin != request.To:
		return fmt.Errorf("%s is pinned to %s: unpin it first with \"leasewarden unpin %s\"", key, e.Spec.Pin, key)
	}
	return checkTarget(e, request.To)
}

// warnOfReplaced tells of an earlier request that this one replaces.
func warnOfReplaced(w io.Writer, e *v1alpha1.Election, request *v1alpha1.Switchover) {
	if old := e.Spec.Switchover; old != nil && !(e.Status.Switchover.Answers(old) && e.Status.Switchover.State.Ended()) && old.To != request.To {
		fmt.Fprintf(w, "This replaces the switchover to %s that was requested before.\n", old.To)
	}
}

// put writes the request. Fields of an earlier one do not stay.
func (o *switchoverOptions) put(ctx context.Context, e *v1alpha1.Election, request *v1alpha1.Switchover) error {
	fields := map[string]any{"to": request.To, "timeout": request.Timeout, "at": request.At}
	return o.want(ctx, e, map[string]any{"switchover": fields})
}

func requested(e *v1alpha1.Election, request *v1alpha1.Switchover) string {
	key := client.ObjectKeyFromObject(e)
	if request.At != nil {
		return fmt.Sprintf("%s moves to %s at %s (now %s).", key, request.To, request.At.UTC().Format(time.RFC3339), describeHolder(e))
	}
	return fmt.Sprintf("%s is to move to %s (now %s).", key, request.To, describeHolder(e))
}
