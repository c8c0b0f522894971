package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// listOnly is a cluster without field selectors, which the fake client does not
// know.
type listOnly struct{ client.Reader }

func (l listOnly) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := &client.ListOptions{}
	o.ApplyOptions(options)
	o.FieldSelector = nil
	return l.Reader.List(ctx, list, o)
}
