package installation

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// goneTimeout is how long objects may take to be gone after they were deleted.
const goneTimeout = time.Minute

// build builds the kustomization in dir and returns the objects that want holds
// true for.
func build(dir string, want func(*unstructured.Unstructured) bool) ([]*unstructured.Unstructured, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		content, err := resource.Map()
		if err != nil {
			return nil, err
		}
		if object := (&unstructured.Unstructured{Object: content}); want(object) {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// Apply builds the kustomization in dir and applies what want holds true for.
func Apply(ctx context.Context, config *rest.Config, dir string, want func(*unstructured.Unstructured) bool) error {
	objects, err := build(dir, want)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := ApplyObject(ctx, config, object); err != nil {
			return err
		}
	}
	return nil
}

// Delete builds the kustomization in dir and deletes what want holds true for, one
// after the other. Like kubectl delete -k, it returns when all are gone.
func Delete(ctx context.Context, config *rest.Config, dir string, want func(*unstructured.Unstructured) bool) error {
	objects, err := build(dir, want)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	for _, object := range objects {
		err := c.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	for _, object := range objects {
		left := &unstructured.Unstructured{}
		left.SetGroupVersionKind(object.GroupVersionKind())
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, goneTimeout, true, func(ctx context.Context) (bool, error) {
			return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(object), left)), nil
		})
		if err != nil {
			return fmt.Errorf("%s %s is not gone: %w", object.GetKind(), object.GetName(), err)
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
