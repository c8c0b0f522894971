package certs

import (
	"context"
	"errors"
	"strings"
	"sync"
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
		var mu sync.Mutex
		var current error
		var on runtime.Object
		is := func(problem error) {
			mu.Lock()
			defer mu.Unlock()
			current = problem
		}
		recorder := events.NewFakeRecorder(100)
		r := &Reporter{
			Problem: func() error {
				mu.Lock()
				defer mu.Unlock()
				return current
			},
			Regarding: func() runtime.Object {
				mu.Lock()
				defer mu.Unlock()
				return on
			},
			Recorder: recorder, Clock: clock.RealClock{},
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
		is(problem(ReasonMissing, "put it there"))
		pass(10 * time.Second)
		told() // it may go away by itself
		is(nil)
		pass(10 * time.Second)
		is(problem(ReasonMissing, "put it there"))
		pass(time.Minute)
		told() // on nobody knows what
		mu.Lock()
		on = &corev1.Pod{}
		mu.Unlock()
		pass(time.Minute)
		told("Warning CertificateMissing put it there")
		pass(20 * time.Minute)
		told() // once is enough
		pass(20 * time.Minute)
		told("put it there") // before it is forgotten
		is(problem(ReasonExpired, "%s", strings.Repeat("x", 2000)))
		pass(time.Minute)
		g.Expect(<-recorder.Events).To(And(ContainSubstring("CertificateExpired"), HaveSuffix("x...")))
		is(errors.New("unnamed"))
		pass(time.Minute)
		told("Warning CertificateMissing unnamed")
		is(nil)
		pass(time.Minute)
		told("Normal CertificateValid")
	})
}
