package candidates

import (
	"context"

	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// leaseCandidates is the resource of coordination.k8s.io.
const leaseCandidates = "leasecandidates"

// leaseCandidateVersions are the versions that are read, the preferred first.
// The API server has them only with the feature gate
// CoordinatedLeaderElection.
var leaseCandidateVersions = []schema.GroupVersion{coordinationv1beta1.SchemeGroupVersion, coordinationv1alpha2.SchemeGroupVersion}

// servedLeaseCandidates is what the API server has.
type servedLeaseCandidates struct {
	// known says that it was asked at least once.
	known bool
	// version is the one that is watched. Empty: it has none.
	version schema.GroupVersion
	watched *watched
	drop    func()
}

// discoverLeaseCandidates asks at once, and then every interval, until ctx
// ends: they come and go with an upgrade, or a flag, of the API server.
func (c *Cache) discoverLeaseCandidates(ctx context.Context) {
	ticker := c.clock.NewTicker(c.discovery)
	defer ticker.Stop()
	for {
		if version, err := c.servedVersion(ctx); err == nil {
			c.update(func() { c.serve(version) })
		} else if ctx.Err() == nil {
			c.logger.V(1).Info("Asking for the versions of LeaseCandidates failed, trying again", "err", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// servedVersion is the preferred version that the API server has. Empty: none.
func (c *Cache) servedVersion(ctx context.Context) (schema.GroupVersion, error) {
	for _, version := range leaseCandidateVersions {
		list := &metav1.APIResourceList{}
		err := c.clients.kubernetes.Discovery().RESTClient().Get().AbsPath("/apis/" + version.String()).Do(ctx).Into(list)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return schema.GroupVersion{}, err
		}
		for i := range list.APIResources {
			if list.APIResources[i].Name == leaseCandidates {
				return version, nil
			}
		}
	}
	return schema.GroupVersion{}, nil
}

// serve watches that version, and ends the watch on another.
func (c *Cache) serve(version schema.GroupVersion) {
	if c.served.known && c.served.version == version {
		return
	}
	if c.served.watched != nil {
		c.unwatch(c.served.watched)
		c.served.drop()
	}
	c.served = servedLeaseCandidates{known: true, version: version}
	if version.Empty() {
		return
	}
	w := &watched{what: "LeaseCandidates " + version.Version, base: true}
	m := newMirror(c.update, trimLeaseCandidate, func(_ types.NamespacedName, old, now *coordinationv1beta1.LeaseCandidate) {
		// A watch that was just ended may still have something to say.
		if c.served.watched == w {
			c.state.leaseCandidateChanged(old, now)
		}
	})
	client, expected, empty := c.leaseCandidateClient(version)
	c.served.watched, c.served.drop = w, m.clear
	lw := listWatch(client, leaseCandidates, "", "")
	lw.empty = empty
	follow(c, w, lw, expected, m)
}

func (c *Cache) leaseCandidateClient(version schema.GroupVersion) (client rest.Interface, expected any, empty func() runtime.Object) {
	if version == coordinationv1alpha2.SchemeGroupVersion {
		return c.clients.kubernetes.CoordinationV1alpha2().RESTClient(), &coordinationv1alpha2.LeaseCandidate{},
			func() runtime.Object { return &coordinationv1alpha2.LeaseCandidateList{} }
	}
	return c.clients.kubernetes.CoordinationV1beta1().RESTClient(), &coordinationv1beta1.LeaseCandidate{},
		func() runtime.Object { return &coordinationv1beta1.LeaseCandidateList{} }
}
