package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// watchEvery is how often a status that is watched is read.
const watchEvery = time.Second

// follow shows the status until it is interrupted: on a terminal always in the
// same place, elsewhere below what was shown before when something is new.
func (o *statusOptions) follow(c *cobra.Command, lease string) error {
	out := c.OutOrStdout()
	style := styleFor(out)
	terminal, shown := style.Width > 0, ""
	for {
		all, err := o.read(c.Context(), lease)
		if c.Context().Err() != nil {
			return nil
		}
		if err != nil && shown == "" {
			return err
		}
		var text bytes.Buffer
		version := versions(all, err)
		if err != nil {
			fmt.Fprintf(&text, "trying again: %v\n", err)
		} else if err := o.show(&text, all, lease, style); err != nil {
			return err
		}
		if terminal || version != shown {
			o.put(out, text.String(), terminal, shown == "")
		}
		shown = version
		select {
		case <-c.Context().Done():
			return nil
		case <-o.clock.After(watchEvery):
		}
	}
}

// put shows a text with the time.
func (o *statusOptions) put(w io.Writer, text string, terminal, first bool) {
	stamp := o.clock.Now().UTC().Format(time.RFC3339)
	switch {
	case terminal:
		fmt.Fprintf(w, "\x1b[H\x1b[2J%s\n%s, end with Ctrl-C\n", text, stamp)
	case first:
		fmt.Fprintf(w, "%s\n%s", stamp, text)
	default:
		fmt.Fprintf(w, "\n%s\n%s", stamp, text)
	}
}

// versions tell whether anything is new. They are never empty.
func versions(all []v1alpha1.Election, err error) string {
	var b strings.Builder
	fmt.Fprintln(&b, err)
	for i := range all {
		fmt.Fprintln(&b, all[i].UID, all[i].ResourceVersion)
	}
	return b.String()
}
