package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// electionNamespaces are those of the contenders.
const electionNamespaces = "elections-plain, elections-cle, elections-warden"

// aftermath is how long after the end of a leader writes are counted. CLE does not
// cease to ask a candidate that has ended.
const aftermath = 10 * time.Second

// lane is a Lease with real electors of client-go, of which the leader ends again
// and again.
type lane struct {
	*bench
	name, namespace string
	// coordinated electors leave the choice to the API server.
	coordinated bool

	mu sync.Mutex
	// leads is the candidate that leads, -1 if none does.
	leads int
	stop  [replicas]func()
}

// measureElections counts what is written through the API for one election after
// a leader has ended, by whomever.
func measureElections(ctx context.Context, b *bench) error {
	lanes := []*lane{
		{bench: b, name: "client-go", namespace: "elections-plain"},
		{bench: b, name: "CLE", namespace: "elections-cle", coordinated: true},
		{bench: b, name: "Leasewarden", namespace: "elections-warden"},
	}
	for _, l := range lanes {
		if err := l.prepare(ctx); err != nil {
			return err
		}
	}
	if err := b.client.Create(ctx, newPolicy(lanes[2].namespace, app)); err != nil {
		return err
	}
	if err := b.install(ctx, 1, ""); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(lanes))
	var playing sync.WaitGroup
	for i, l := range lanes {
		playing.Go(func() { errs[i] = l.play(ctx) })
	}
	playing.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", lanes[i].name, err)
		}
	}
	return b.uninstall(context.WithoutCancel(ctx))
}

func (l *lane) prepare(ctx context.Context) error {
	l.leads = -1
	if err := l.makeNamespace(ctx, l.namespace); err != nil {
		return err
	}
	for i := range replicas {
		if err := l.makePod(ctx, l.namespace, app, i); err != nil {
			return err
		}
	}
	return nil
}

// play has leaders end, and reports the writes of all elections.
func (l *lane) play(ctx context.Context) error {
	for i := range replicas {
		l.compete(ctx, i)
	}
	defer func() {
		for _, stop := range l.stop {
			stop()
		}
	}()
	if _, err := l.next(ctx, -1); err != nil {
		return err
	}
	var writes, refused []float64
	for n := range l.elections {
		// What the last change has caused is over.
		if err := observe(ctx, time.Now()); err != nil {
			return err
		}
		from, err := l.auditedBytes()
		if err != nil {
			return err
		}
		ended, leads := time.Now(), l.leader()
		if err := l.end(ctx, leads); err != nil {
			return err
		}
		if _, err := l.next(ctx, leads); err != nil {
			return err
		}
		if err := observe(ctx, ended); err != nil {
			return err
		}
		w, r, err := l.count(from)
		if err != nil {
			return err
		}
		writes, refused = append(writes, float64(w)), append(refused, float64(r))
		l.say("%s: election %d of %d: %d writes, %d refused", l.name, n+1, l.elections, w, r)
		if err := l.setPhase(ctx, leads, corev1.PodRunning); err != nil {
			return err
		}
		l.compete(ctx, leads)
	}
	l.reportElections(writes, refused)
	return nil
}

var reporting sync.Mutex

func (l *lane) reportElections(writes, refused []float64) {
	reporting.Lock()
	defer reporting.Unlock()
	l.report.add("9", "API writes of an election, "+l.name, "", target{}, writes...)
	l.report.add("9", "- refused or conflicting", "", target{}, refused...)
}

// compete starts a candidate's elector.
func (l *lane) compete(ctx context.Context, i int) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	l.stop[i] = func() {
		cancel()
		<-done
	}
	o := elector.Options{
		Namespace: l.namespace, Lease: app, Identity: identity(app, i), Release: true,
		Timings: elector.Timings{LeaseDuration: term, RenewDeadline: 10 * time.Second, RetryPeriod: renewEvery},
		Notify:  func(r elector.Record) { l.notice(i, r.Leads) },
	}
	if l.coordinated {
		o.Coordinated = fmt.Sprintf("1.36.%d", i)
	}
	go func() {
		defer close(done)
		_ = elector.Run(ctx, l.clientConfig(), o) // it ends when it is told to
	}()
}

func (l *lane) notice(i int, leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case leads:
		l.leads = i
	case l.leads == i:
		l.leads = -1
	}
}

func (l *lane) leader() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leads
}

// end ends a candidate as its Pod ends: the kubelet reports it.
func (l *lane) end(ctx context.Context, i int) error {
	l.stop[i]()
	return l.setPhase(ctx, i, corev1.PodSucceeded)
}

func (l *lane) setPhase(ctx context.Context, i int, phase corev1.PodPhase) error {
	pods := l.kube.CoreV1().Pods(l.namespace)
	pod, err := pods.Get(ctx, fmt.Sprintf("%s-%d", app, i), metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = phase
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// next waits until another than that candidate leads.
func (l *lane) next(ctx context.Context, than int) (leads int, err error) {
	err = await(ctx, "another leader", func(context.Context) (bool, error) {
		leads = l.leader()
		return leads >= 0 && leads != than, nil
	})
	return leads, err
}

// observe waits until the time after an end in which writes are counted is over.
func observe(ctx context.Context, ended time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(ended.Add(aftermath))):
		return nil
	}
}

// count counts the writes from there on that are no renewals, and of them those
// that were turned away. What is written to Pods is how a leader is ended here.
func (l *lane) count(from int64) (writes, refused int, err error) {
	events, err := l.audited(from, func(e *auditv1.Event) bool {
		return e.ObjectRef.Namespace == l.namespace && e.ObjectRef.Resource != "pods"
	})
	if err != nil {
		return 0, 0, err
	}
	holder, known := "", false // the first write of a holder is taken for a renewal
	for _, e := range events {
		turnedAway := e.ResponseStatus != nil && e.ResponseStatus.Code >= 400
		if e.ObjectRef.Resource == "leases" && !turnedAway && e.Verb == "update" && e.RequestObject != nil {
			lease := &coordinationv1.Lease{}
			if err := json.Unmarshal(e.RequestObject.Raw, lease); err != nil {
				return 0, 0, err
			}
			renewal := holderOf(lease) != "" && (holderOf(lease) == holder || !known)
			holder, known = holderOf(lease), true
			if renewal {
				continue
			}
		}
		if turnedAway {
			refused++
		} else {
			writes++
		}
	}
	return writes, refused, nil
}
