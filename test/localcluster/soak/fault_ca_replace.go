package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// rotation is how long it may take until all replicas serve a leaf of a new CA.
const rotation = rotationDelay + 30*time.Second

// replaceCA takes the CA away. Leasewarden makes another one, and once the API
// servers know of it, all replicas replace their leaves.
var replaceCA = &fault{
	name: "CA and leaves replaced", hold: [2]time.Duration{2 * time.Second, rotationDelay}, election: true,
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		old, err := s.ca(ctx)
		if err != nil {
			return nil, err
		}
		secrets := s.site.kube.CoreV1().Secrets(installation.Namespace)
		if err := secrets.Delete(ctx, caSecret, metav1.DeleteOptions{}); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			if err := until(ctx, rotation, func() bool { return s.served(ctx, old) }); err != nil {
				return fmt.Errorf("not all replicas serve a leaf of a new CA after %s: %w", rotation, err)
			}
			s.journal.add(time.Now(), "certificates", "all replicas serve leaves of the new CA")
			return nil
		}, nil
	},
}
