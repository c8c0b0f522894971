package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
)

// historyOptions are the flags of the command history.
type historyOptions struct {
	hand
	since time.Duration
}

func newHistoryCommand(clock clock.Clock) *cobra.Command {
	o := &historyOptions{hand: hand{clock: clock}}
	c := &cobra.Command{
		Use:   "history LEASE [--since DURATION]",
		Short: "Draws the last terms of a Lease over time.",
		Long: `Draws the last 10 terms of a Lease over time: who led, when nobody did, why each
term ended, and by what each holder was chosen. LEASE is NAME or NAMESPACE/NAME.`,
		Example: `  leasewarden history -n kube-system kube-scheduler --since 2h`,
		Args:    exactArgs("LEASE"),
		RunE:    func(c *cobra.Command, args []string) error { return o.run(c, args[0]) },
	}
	o.addFlags(c)
	c.Flags().DurationVar(&o.since, "since", 0, "leave out what ended longer ago than this, such as 2h; default: nothing")
	return c
}

func (o *historyOptions) run(c *cobra.Command, lease string) error {
	if o.since < 0 {
		return unusable(errors.New("--since: give a duration such as 2h"))
	}
	e, err := o.governed(c.Context(), lease)
	if err != nil {
		return err
	}
	now, from := o.clock.Now(), time.Time{}
	if o.since > 0 {
		from = now.Add(-o.since)
	}
	return report.Timeline(c.OutOrStdout(), e, from, now, styleFor(c.OutOrStdout()))
}
