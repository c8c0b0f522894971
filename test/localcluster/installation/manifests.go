package installation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Apply builds the kustomization in dir and applies what want holds true for.
func Apply(ctx context.Context, config *rest.Config, dir string, want func(*unstructured.Unstructured) bool) error {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return fmt.Errorf("kustomize %s: %w", dir, err)
	}
	for _, resource := range resources.Resources() {
		content, err := resource.Map()
		if err != nil {
			return err
		}
		object := &unstructured.Unstructured{Object: content}
		if !want(object) {
			continue
		}
		if err := ApplyObject(ctx, config, object); err != nil {
			return err
		}
	}
	return nil
}

// ApplyObject creates the object or brings it up to date, by server-side apply.
func ApplyObject(ctx context.Context, config *rest.Config, object *unstructured.Unstructured) error {
	// A new client each time: it must know of CRDs that were just applied.
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("installation"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}
