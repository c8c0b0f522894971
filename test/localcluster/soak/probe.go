package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

const (
	// probeLease is a Lease that nobody ever gets.
	probeLease = "probe"
	// probeInterval is between two attempts.
	probeInterval = 200 * time.Millisecond
	// ruled is in the refusal of an attempt that Leasewarden has ruled on.
	ruled = "denied the request: lease " + namespace + "/" + probeLease
)

// probe has somebody who is no candidate try to acquire a Lease all the time, as a
// dry run: electors that follow write nothing, so that there would be few calls of
// the webhook. Nothing is admitted while Leasewarden cannot be asked.
type probe struct {
	*site
	mu       sync.Mutex
	ruled    int
	failures []failure
}

func probePolicy() ctrlclient.Object {
	policy := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: probeLease}}
	policy.Spec.Leases.Names = []string{probeLease}
	policy.Spec.FailurePolicy = v1alpha1.Fail
	policy.Spec.Strategy.Name = v1alpha1.FirstCome
	return policy
}

// watch tries until ctx ends.
func (p *probe) watch(ctx context.Context) error {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		began := time.Now()
		err := p.attempt(ctx)
		if ctx.Err() != nil {
			return nil
		}
		p.mu.Lock()
		if err == nil {
			p.ruled++
		} else {
			p.failures = append(p.failures, failure{began, err.Error()})
		}
		p.mu.Unlock()
	}
}

// attempt returns nil if Leasewarden has ruled on it.
func (p *probe) attempt(ctx context.Context) error {
	_, err := p.kube.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: probeLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("somebody"), LeaseDurationSeconds: ptr.To[int32](15)},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return fmt.Errorf("an attempt was admitted: nobody has ruled on it")
	case strings.Contains(err.Error(), ruled):
		return nil
	}
	return err
}

// failed are the failures in a span.
func (p *probe) failed(in belief.Span) []failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []failure
	for _, f := range p.failures {
		if !f.at.Before(in.From) && f.at.Before(in.To) {
			all = append(all, f)
		}
	}
	return all
}

// rulings counts the attempts that Leasewarden has ruled on.
func (p *probe) rulings() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ruled
}
