package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/progress"
)

const (
	// pollEvery is how often an Election is read while somebody waits.
	pollEvery = 500 * time.Millisecond
	// answerGrace is how much longer than a switchover may take the answer is
	// waited for that it failed.
	answerGrace = 10 * time.Second
	// servedGrace is how long the API server may not know of Elections: one that
	// has just started does not serve all CRDs at once.
	servedGrace = 10 * time.Second
)

// await waits until the request was answered.
func (o *switchoverOptions) await(c *cobra.Command, e *v1alpha1.Election, request *v1alpha1.Switchover) error {
	w := &switchoverWait{
		hand: &o.hand, line: progress.New(c.ErrOrStderr(), o.clock),
		request: request, generation: e.Generation, started: o.clock.Now(),
	}
	defer w.line.Done()
	deadline := w.begins().Add(o.timeout + answerGrace)
	for {
		// While it cannot be read, what was seen before is no news.
		if w.failing != "" {
			w.line.Show(w.failing)
		} else if done, err := w.look(e); err != nil {
			return err
		} else if done {
			w.line.Done()
			took := o.clock.Since(w.begins()).Round(100 * time.Millisecond)
			fmt.Fprintf(c.OutOrStdout(), "%s leads %s, after %s.\n", request.To, client.ObjectKeyFromObject(e), took)
			return nil
		}
		if !o.clock.Now().Before(deadline) {
			return fmt.Errorf("Leasewarden did not say in time what became of the switchover: see whether it runs, and \"leasewarden status %s\"", client.ObjectKeyFromObject(e))
		}
		if err := w.next(c.Context(), &e); err != nil {
			return err
		}
	}
}

// switchoverWait waits for the answer to a request that was written.
type switchoverWait struct {
	*hand
	line       *progress.Line
	request    *v1alpha1.Switchover
	generation int64
	started    time.Time
	// failing says why the Election cannot be read, as it was at first. Empty: it
	// can.
	failing string
	// unserved is since when the API server does not know of Elections. Zero: it
	// does.
	unserved time.Time
}

// begins is when the switchover begins.
func (w *switchoverWait) begins() time.Time {
	if w.request.At != nil {
		return w.request.At.Time
	}
	return w.started
}

// look reports whether the switchover is done, or the error with which it
// ended, or else shows what it waits for.
func (w *switchoverWait) look(e *v1alpha1.Election) (done bool, err error) {
	key, answer := client.ObjectKeyFromObject(e), e.Status.Switchover
	switch {
	case answer == nil || answer.ObservedGeneration < w.generation:
		w.line.Show("waiting for Leasewarden to take it up")
	case answer.To != w.request.To:
		return false, fmt.Errorf("the switchover of %s to %s was replaced by one to %s", key, w.request.To, answer.To)
	case answer.State == v1alpha1.SwitchoverDone:
		return true, nil
	case answer.State == v1alpha1.SwitchoverFailed:
		return false, fmt.Errorf("the switchover of %s to %s failed: %s (%s)", key, w.request.To, answer.Message, describeHolder(e))
	default:
		w.line.Show(waitingFor(e, answer))
	}
	return false, nil
}

// waitingFor says what is waited for, and who leads meanwhile.
func waitingFor(e *v1alpha1.Election, answer *v1alpha1.SwitchoverStatus) string {
	if h := e.Status.Holder; h != nil && strings.Contains(answer.Message, h.Name) {
		return answer.Message
	}
	return describeHolder(e) + ", " + answer.Message
}

// next reads the Election again, a moment later. While the API server does not
// answer, it stays as it was.
func (w *switchoverWait) next(ctx context.Context, e **v1alpha1.Election) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("interrupted: the switchover goes on without us: %w", ctx.Err())
	case <-w.clock.After(pollEvery):
	}
	fresh := &v1alpha1.Election{}
	err := w.client.Get(ctx, client.ObjectKeyFromObject(*e), fresh)
	switch {
	case err == nil:
		*e, w.failing = fresh, ""
	case w.failing == "" && ctx.Err() == nil:
		w.failing = "trying again: " + err.Error()
	}
	return w.checkServed(err)
}

// checkServed returns an error if Elections have not been served for a while.
func (w *switchoverWait) checkServed(err error) error {
	now := w.clock.Now()
	switch {
	case !unserved(err):
		w.unserved = time.Time{}
	case w.unserved.IsZero():
		w.unserved = now
	case now.Sub(w.unserved) >= servedGrace:
		return fmt.Errorf("the API server does not know of Elections: the CRDs of Leasewarden are gone, and the switchover with them: %w", err)
	}
	return nil
}

// unserved reports whether the API server does not know the kind, rather than
// the object.
func unserved(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
