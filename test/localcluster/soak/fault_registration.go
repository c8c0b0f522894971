package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// putBack is how long it may take until the webhook configurations are back.
const putBack = 30 * time.Second

// removeRegistration deletes the webhook configurations. Leasewarden puts them back.
var removeRegistration = &fault{
	name: "webhook configurations deleted", election: true, blind: true,
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		api := s.site.kube.AdmissionregistrationV1()
		err := errors.Join(
			api.ValidatingWebhookConfigurations().Delete(ctx, configuration, metav1.DeleteOptions{}),
			api.MutatingWebhookConfigurations().Delete(ctx, configuration, metav1.DeleteOptions{}),
		)
		deleted := time.Now()
		return func(ctx context.Context) error {
			err := until(ctx, putBack, func() bool {
				_, validating := api.ValidatingWebhookConfigurations().Get(ctx, configuration, metav1.GetOptions{})
				_, mutating := api.MutatingWebhookConfigurations().Get(ctx, configuration, metav1.GetOptions{})
				return validating == nil && mutating == nil
			})
			if err != nil {
				return fmt.Errorf("the webhook configurations are not back after %s: %w", putBack, err)
			}
			s.journal.add(time.Now(), "webhooks", "are registered again after %s", time.Since(deleted).Round(time.Millisecond))
			return nil
		}, err
	},
}
