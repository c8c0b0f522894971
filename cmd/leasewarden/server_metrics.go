package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/terms"
)

// forgetEvery is how often the metrics of Leases are dropped that are gone. A Lease
// is often back soon, and must be found missing twice.
const forgetEvery = 10 * time.Minute

// forget drops metrics of the webhook. Those of the publisher go with the
// Elections.
func (s *server) forget(c *candidates.Cache, leases *terms.LeaseWatch) everyReplica {
	governed := func(lease types.NamespacedName) bool {
		return leases.Exists(lease) && c.Governing(lease).Policy != nil
	}
	return func(ctx context.Context) error {
		wait.UntilWithContext(ctx, func(context.Context) { s.metrics.Forget(governed) }, forgetEvery)
		return nil
	}
}
