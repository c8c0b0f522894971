package candidates

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// expireEvery is how often expired registrations are looked for.
const expireEvery = time.Minute

// Expirer removes Candidates that were written for an attempt and have
// expired. It is a controller-runtime Runnable for one replica only.
type Expirer struct{ cache *Cache }

// Expirer returns the Runnable that removes expired registrations.
func (c *Cache) Expirer() *Expirer { return &Expirer{cache: c} }

// NeedLeaderElection says that one replica is enough.
func (e *Expirer) NeedLeaderElection() bool { return true }

// Start removes what has expired until ctx ends.
func (e *Expirer) Start(ctx context.Context) error {
	ticker := e.cache.clock.NewTicker(expireEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			e.sweep(ctx)
		}
	}
}

func (e *Expirer) sweep(ctx context.Context) {
	for _, o := range e.expired() {
		err := e.remove(ctx, o)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			e.cache.logger.Info("Expired Candidate was not removed, trying again in a minute",
				"candidate", o.Namespace+"/"+o.Name, "err", err.Error())
		}
	}
}

// expired are the registrations by attempt whose time is over. One that
// somebody else made is theirs to remove.
func (e *Expirer) expired() []*v1alpha1.Candidate {
	e.cache.mu.RLock()
	defer e.cache.mu.RUnlock()
	now := e.cache.clock.Now()
	var found []*v1alpha1.Candidate
	for _, list := range e.cache.state.candidates {
		for _, o := range list {
			if o.Spec.Origin == v1alpha1.OriginAttempt && expired(o, now) {
				found = append(found, o)
			}
		}
	}
	return found
}

// remove removes the Candidate unless it was renewed meanwhile.
func (e *Expirer) remove(ctx context.Context, o *v1alpha1.Candidate) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return e.cache.clients.own.Delete().Namespace(o.Namespace).Resource(candidatesResource).Name(o.Name).
		Body(&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion}}).
		Do(ctx).Error()
}
