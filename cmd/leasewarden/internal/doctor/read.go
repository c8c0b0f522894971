package doctor

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// read is something that was read, or why it could not be.
type read[T any] struct {
	value T
	err   error
}

// listed reads a list.
func listed[T any, L interface {
	*T
	client.ObjectList
}](ctx context.Context, c client.Reader, options ...client.ListOption) read[T] {
	var r read[T]
	r.err = c.List(ctx, L(&r.value), options...)
	return r
}

// got reads an object.
func got[T any, O interface {
	*T
	client.Object
}](ctx context.Context, c client.Reader, namespace, name string) read[T] {
	var r read[T]
	r.err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, O(&r.value))
	return r
}
