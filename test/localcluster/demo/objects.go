package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

//go:embed objects
var objects embed.FS

// apply creates the objects of a file, or brings them up to date.
func apply(ctx context.Context, config *rest.Config, name string) error {
	file, err := objects.Open("objects/" + name)
	if err != nil {
		return err
	}
	defer file.Close()
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = installation.ApplyObject(ctx, config, object)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// awaitRegistration waits until the API server asks Leasewarden about Leases.
func awaitRegistration(ctx context.Context, client kubernetes.Interface) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		configuration, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "leasewarden", metav1.GetOptions{})
		if err != nil {
			return false, nil
		}
		for _, webhook := range configuration.Webhooks {
			if webhook.Name == "leases.leasewarden.dev" {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("the policy was not registered with the API server: %w", err)
	}
	return nil
}
