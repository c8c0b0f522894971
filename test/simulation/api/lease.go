package api

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

var leaseGroup = schema.GroupResource{Group: coordinationv1.GroupName, Resource: "leases"}

// writeLease writes a Lease as change wants it, which is given the Lease as it is
// (nil: there is none) and must not change that. It takes the steps of
// kube-apiserver, in its order: mutating webhooks, resourceVersion, validating
// webhooks, and again if the Lease was written meanwhile.
func (l *Link) writeLease(key string, change func(old *coordinationv1.Lease) (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	s, f, user := l.server, l.frontend, &l.User
	for {
		s.mu.Lock()
		object := s.objects[Leases][key]
		s.mu.Unlock()
		var old *coordinationv1.Lease
		if object != nil {
			old = object.Lease
		}
		changed, err := change(old)
		if err != nil {
			return nil, err
		}
		w := &write{operation: admission.Create, old: old, new: changed, labels: s.namespaceLabels(changed.Namespace)}
		if old != nil {
			w.operation = admission.Update
		}
		if _, err := f.mutate(w, user); err != nil {
			return nil, err
		}
		if old != nil && w.new.ResourceVersion != "" && w.new.ResourceVersion != old.ResourceVersion {
			return nil, conflict(changed.Name)
		}
		if err := f.validate(w, user); err != nil {
			return nil, err
		}
		if written, ok := s.commitLease(key, object, w.new, l.Name); ok {
			return written, nil
		}
	}
}

// commitLease stores a Lease unless the one before is not the expected one any
// more.
func (s *Server) commitLease(key string, expected *Object, l *coordinationv1.Lease, by string) (*coordinationv1.Lease, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[Leases][key] != expected {
		return nil, false
	}
	return s.set(Leases, newLease(l.DeepCopy()), by).Lease, true
}

func (s *Server) namespaceLabels(name string) labels.Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[Namespaces]["/"+name]; o != nil {
		return o.Labels
	}
	return nil
}

func conflict(name string) error {
	return apierrors.NewConflict(leaseGroup, name, errModified)
}

// LeaseClient is a client for Leases that saves itself the encoding. It knows
// what electors use.
type LeaseClient struct{ Link *Link }

var _ coordinationclient.LeasesGetter = LeaseClient{}

// Leases implements LeasesGetter.
func (c LeaseClient) Leases(namespace string) coordinationclient.LeaseInterface {
	return &leaseClient{link: c.Link, namespace: namespace}
}

type leaseClient struct {
	coordinationclient.LeaseInterface
	link      *Link
	namespace string
}

func (c *leaseClient) Get(ctx context.Context, name string, _ metav1.GetOptions) (l *coordinationv1.Lease, err error) {
	err = c.link.do(ctx, "get lease "+name, false, func() error {
		o := c.link.server.Get(Leases, c.namespace, name)
		if o == nil {
			return apierrors.NewNotFound(leaseGroup, name)
		}
		l = o.Lease.DeepCopy()
		return nil
	})
	return result(l, err)
}

func (c *leaseClient) Create(ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (l *coordinationv1.Lease, err error) {
	wanted := lease.DeepCopy()
	err = c.link.do(ctx, "create lease "+lease.Name, true, func() error {
		l, err = c.link.createLease(wanted)
		return err
	})
	return result(l, err)
}

func (c *leaseClient) Update(ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (l *coordinationv1.Lease, err error) {
	wanted := lease.DeepCopy()
	err = c.link.do(ctx, "update lease "+lease.Name, true, func() error {
		l, err = c.link.updateLease(wanted)
		return err
	})
	return result(l, err)
}

// result hands out a copy, and nothing with an error.
func result(l *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	if err != nil {
		return nil, err
	}
	return l.DeepCopy(), nil
}

func (l *Link) createLease(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return l.writeLease(lease.Namespace+"/"+lease.Name, func(old *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		if old != nil {
			return nil, apierrors.NewAlreadyExists(leaseGroup, lease.Name)
		}
		return lease.DeepCopy(), nil
	})
}

func (l *Link) updateLease(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return l.writeLease(lease.Namespace+"/"+lease.Name, func(old *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		switch {
		case old == nil:
			return nil, apierrors.NewNotFound(leaseGroup, lease.Name)
		case lease.UID != "" && lease.UID != old.UID:
			return nil, conflict(lease.Name)
		}
		return lease.DeepCopy(), nil
	})
}
