package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// records are what the lane's electors have said so far, in the order of time.
func (l *lane) records() ([]elector.Record, error) {
	logs, err := l.cluster.ContainerLogs(l.namespace)
	if err != nil {
		return nil, err
	}
	var all []elector.Record
	for _, path := range logs {
		records, err := readLog(path)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	elector.Sort(all)
	return all, nil
}

func readLog(path string) ([]elector.Record, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return elector.ReadRecords(file)
}

// terms are the records of those that began to lead after that moment.
func (l *lane) terms(after time.Time) ([]elector.Record, error) {
	records, err := l.records()
	return slices.DeleteFunc(elector.Terms(records), func(r elector.Record) bool { return !r.At.After(after) }), err
}

// next waits for the first elector to lead after that moment; with a Pod's name,
// for that Pod's.
func (l *lane) next(ctx context.Context, after time.Time, pod string) (first elector.Record, err error) {
	err = l.await(ctx, "the next leader", func(context.Context) (bool, error) {
		terms, err := l.terms(after)
		i := slices.IndexFunc(terms, func(r elector.Record) bool { return pod == "" || podOf(r.Identity) == pod })
		if i >= 0 {
			first = terms[i]
		}
		return i >= 0, err
	})
	return first, err
}

// stopped waits for the elector's record that it leads no more.
func (l *lane) stopped(ctx context.Context, identity string) (stop elector.Record, err error) {
	err = l.await(ctx, "the leader to stop", func(context.Context) (bool, error) {
		records, err := l.records()
		i := slices.IndexFunc(records, func(r elector.Record) bool { return !r.Leads && r.Identity == identity })
		if i >= 0 {
			stop = records[i]
		}
		return i >= 0, err
	})
	return stop, err
}

// holder is the holder identity on the Lease, "" if nobody holds it.
func (l *lane) holder(ctx context.Context) (string, error) {
	lease, err := l.kube.CoordinationV1().Leases(l.namespace).Get(ctx, appName, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	return *lease.Spec.HolderIdentity, nil
}

// released begins to watch the Lease. What it returns waits until nobody holds
// the Lease any more, or somebody else does, and says when the first was seen:
// a zero time if it was not.
func (l *lane) released(ctx context.Context, identity string) (func() time.Time, error) {
	w, err := l.kube.CoordinationV1().Leases(l.namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return func() time.Time {
		defer w.Stop()
		for e := range w.ResultChan() {
			lease, ok := e.Object.(*coordinationv1.Lease)
			if !ok || lease.Name != appName || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == identity {
				continue
			}
			if *lease.Spec.HolderIdentity == "" {
				return time.Now()
			}
			break
		}
		return time.Time{}
	}, nil
}

// leads reports whether the holder of the Lease runs, and says that it leads.
func (l *lane) leads(ctx context.Context) (bool, error) {
	identity, err := l.holder(ctx)
	if err != nil || identity == "" {
		return false, nil
	}
	records, err := l.records()
	if err != nil {
		return false, err
	}
	last := -1
	for i := range records {
		if records[i].Identity == identity {
			last = i
		}
	}
	if last < 0 || !records[last].Leads {
		return false, nil
	}
	pod, err := l.kube.CoreV1().Pods(l.namespace).Get(ctx, podOf(identity), metav1.GetOptions{})
	return err == nil && runs(pod), nil
}

// settle waits until all replicas run and one leads, and Leasewarden, if asked,
// knows that all of them may lead.
func (l *lane) settle(ctx context.Context) error {
	return l.await(ctx, "all replicas to run and one to lead", func(ctx context.Context) (bool, error) {
		for _, condition := range []func(context.Context) (bool, error){l.rolledOut, l.leads, l.known} {
			if ok, err := condition(ctx); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// neverTwo returns an error if two electors have led at the same time, as they
// saw it themselves.
func (l *lane) neverTwo() error {
	records, err := l.records()
	if two := elector.Overlaps(records); len(two) > 0 {
		return fmt.Errorf("%s: two leaders: %s", l.namespace, two[0])
	}
	return err
}

// atRandom waits until the lane has settled and a moment more, so that what comes
// next does not keep step with the kubelet's looks, or with the electors' tries.
func (l *lane) atRandom(ctx context.Context) error {
	if err := l.settle(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(rand.N(2 * retryPeriod)):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// podOf is the Pod of an elector.
func podOf(identity string) string {
	pod, _, _ := strings.Cut(identity, "_")
	return pod
}
