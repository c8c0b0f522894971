package candidates

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// clients reach the API server.
type clients struct {
	kubernetes kubernetes.Interface
	// metadata reads objects of which only the metadata counts.
	metadata metadata.Interface
	// own reads and writes the group leasewarden.dev.
	own rest.Interface
}

func newClients(config *rest.Config) (*clients, error) {
	config = rest.CopyConfig(config)
	// A watch is one request for hours. The API server's own fairness is
	// enough; a client-side limit would only delay the start.
	config.QPS = -1
	core := rest.CopyConfig(config)
	core.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	core.ContentType = runtime.ContentTypeProtobuf
	k, err := kubernetes.NewForConfig(core)
	if err != nil {
		return nil, err
	}
	m, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	own, err := newOwnClient(config)
	if err != nil {
		return nil, err
	}
	return &clients{kubernetes: k, metadata: m, own: own}, nil
}

func newOwnClient(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	own := rest.CopyConfig(config)
	own.GroupVersion = &v1alpha1.GroupVersion
	own.APIPath = "/apis"
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(own)
}

// listWatch lists and watches the objects of a resource that a label selector
// selects.
func listWatch(client cache.Getter, resource, namespace, selector string) *listerWatcher {
	return &listerWatcher{ListWatch: cache.NewFilteredListWatchFromClient(client, resource, namespace,
		func(o *metav1.ListOptions) { o.LabelSelector = selector })}
}

// metadataListWatch is listWatch for metadata alone.
func metadataListWatch(client metadata.Interface, resource schema.GroupVersionResource, namespace, selector string) *listerWatcher {
	get := client.Resource(resource).Namespace(namespace)
	return &listerWatcher{ListWatch: &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = selector
			return get.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = selector
			return get.Watch(ctx, o)
		},
	}}
}

// listerWatcher is what a Reflector reads from. It tells of what fails: a
// Reflector itself would log each of its tries, for days.
type listerWatcher struct {
	*cache.ListWatch
	// empty makes an empty list of a resource that the API server may not know.
	// Nil: it always does.
	empty func() runtime.Object
	// failed is told of errors.
	failed func(error)
}

var (
	_ cache.ListerWatcher            = &listerWatcher{}
	_ cache.ListerWatcherWithContext = &listerWatcher{}
)

// ListWithContext implements cache.ListerWithContext. A resource that the API
// server does not know has no objects: a CustomResourceDefinition that is not
// there (yet, or any more) fills the cache, and drops what it held. The watch
// that follows fails, so that the list is tried again later.
func (l *listerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := l.ListWatch.ListWithContext(ctx, o)
	if l.empty != nil && apierrors.IsNotFound(err) {
		return l.empty(), nil
	}
	l.report(ctx, err)
	return list, err
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *listerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := l.ListWatch.WatchWithContext(ctx, o)
	l.report(ctx, err)
	return w, err
}

// report tells of an error that somebody may have to do something about. An
// expired resourceVersion is every long watch's end.
func (l *listerWatcher) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		l.failed(err)
	}
}

// IsWatchListSemanticsUnSupported makes the Reflector list first: a streamed
// list of an absent resource would fail, and not be an empty one.
func (l *listerWatcher) IsWatchListSemanticsUnSupported() bool { return l.empty != nil }
