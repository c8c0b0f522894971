package certs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

func TestReporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var current error
		var on runtime.Object
		recorder := events.NewFakeRecorder(100)
		r := &Reporter{
			Problem: func() error { return current }, Recorder: recorder,
			Regarding: func() runtime.Object { return on }, Clock: clock.RealClock{},
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = r.Start(ctx) }()
		pass := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		told := func(texts ...string) {
			t.Helper()
			for _, text := range texts {
				g.Expect(recorder.Events).To(Receive(ContainSubstring(text)))
			}
			g.Expect(recorder.Events).NotTo(Receive())
		}

		pass(time.Minute)
		told()
		current = problem(ReasonMissing, "put it there")
		pass(10 * time.Second)
		told() // it may go away by itself
		current = nil
		pass(10 * time.Second)
		current = problem(ReasonMissing, "put it there")
		pass(time.Minute)
		told() // on nobody knows what
		on = &corev1.Pod{}
		pass(time.Minute)
		told("Warning CertificateMissing put it there")
		pass(20 * time.Minute)
		told() // once is enough
		pass(20 * time.Minute)
		told("put it there") // before it is forgotten
		current = problem(ReasonExpired, "%s", strings.Repeat("x", 2000))
		pass(time.Minute)
		g.Expect(<-recorder.Events).To(And(ContainSubstring("CertificateExpired"), HaveSuffix("x...")))
		current = errors.New("unnamed")
		pass(time.Minute)
		told("Warning CertificateMissing unnamed")
		current = nil
		pass(time.Minute)
		told("Normal CertificateValid")
	})
}
