package certs

import (
	"context"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// ReasonValid is the reason of the Event that a problem is over.
	ReasonValid = "CertificateValid"
	// actionServe is the action of the Events.
	actionServe = "Serve"

	// reportInterval is how often is asked whether there is a problem.
	reportInterval = 5 * time.Second
	// reportGrace is how long a problem may take to go away by itself: at the
	// start, and while files are being replaced.
	reportGrace = 15 * time.Second
	// reportAgain is when a problem that persists is told of again. The API
	// server forgets an Event after an hour, by default.
	reportAgain = 30 * time.Minute
)

// Reporter tells people, by Events and in the log, what is wrong with the
// serving certificate, and when that is over.
type Reporter struct {
	// Problem returns what is wrong now.
	Problem  func() error
	Recorder events.EventRecorder
	// Regarding is the object that the Events are on. Nil: not known yet.
	Regarding func() runtime.Object
	Clock     clock.WithTicker

	// since is when the problem began; zero: there is none.
	since time.Time
	// logged and told are what was said of it, and at when Events told it last.
	logged, told string
	at           time.Time
}

var (
	_ manager.Runnable               = (*Reporter)(nil)
	_ manager.LeaderElectionRunnable = (*Reporter)(nil)
)

// NeedLeaderElection is false: every replica has a certificate.
func (*Reporter) NeedLeaderElection() bool { return false }

// Start reports until ctx ends.
func (r *Reporter) Start(ctx context.Context) error {
	log := ctrllog.FromContext(ctx).WithName("certs")
	ticker := r.Clock.NewTicker(reportInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			r.review(log)
		}
	}
}

func (r *Reporter) review(log logr.Logger) {
	err := r.Problem()
	if err == nil {
		r.over(log)
		return
	}
	now := r.Clock.Now()
	if r.since.IsZero() {
		r.since = now
	}
	if now.Sub(r.since) < reportGrace {
		return
	}
	message := err.Error()
	if message != r.logged {
		log.Error(nil, "There is a problem with the serving certificate", "problem", message)
		r.logged = message
	}
	if message == r.told && now.Sub(r.at) < reportAgain {
		return
	}
	if r.event(corev1.EventTypeWarning, asProblem(err).Reason, message) {
		r.told, r.at = message, now
	}
}

// over tells that a problem is over, if it was told of.
func (r *Reporter) over(log logr.Logger) {
	const message = "the serving certificate is valid again"
	if r.logged != "" {
		log.Info("The problem with the serving certificate is over")
	}
	if r.told != "" {
		r.event(corev1.EventTypeNormal, ReasonValid, message)
	}
	r.since, r.logged, r.told = time.Time{}, "", ""
}

// event reports whether it could be told.
func (r *Reporter) event(kind, reason, note string) bool {
	regarding := r.Regarding()
	if regarding == nil {
		return false
	}
	r.Recorder.Eventf(regarding, nil, kind, reason, actionServe, "%s", shorten(note))
	return true
}

// maxNote is the most bytes that the note of an Event may have.
const maxNote = 1024

func shorten(note string) string {
	if len(note) <= maxNote {
		return note
	}
	const mark = "..."
	return strings.ToValidUTF8(note[:maxNote-len(mark)], "") + mark
}
