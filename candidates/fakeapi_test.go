package candidates

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// fakeAPI is a small API server: lists, watches, label selectors, metadata-only
// answers, merge patches and preconditions, over real HTTP.
type fakeAPI struct {
	mu sync.Mutex
	// served are the resources, such as "v1/pods".
	served   map[string]bool
	version  int
	objects  map[string]map[string]*unstructured.Unstructured // resource, then namespace/name
	history  []fakeChange
	watchers map[*fakeWatch]struct{}
	// requests counts by method and path.
	requests map[string]int
	// refuse answers requests of these resources with 403.
	refuse map[string]bool
}

type fakeWatch struct {
	resource, namespace string
	selector            labels.Selector
	events              chan fakeEvent
	gone                chan struct{}
}

type fakeEvent struct {
	Type   string
	Object *unstructured.Unstructured
}

// builtIn is what every API server serves of what a Cache watches.
var builtIn = []string{"v1/pods", "v1/nodes", "v1/namespaces", "apps/v1/replicasets", "apps/v1/controllerrevisions"}

var ownResources = []string{"leasewarden.dev/v1alpha1/electionpolicies", "leasewarden.dev/v1alpha1/clusterelectionpolicies",
	"leasewarden.dev/v1alpha1/candidates", "leasewarden.dev/v1alpha1/elections"}

const betaLeaseCandidates, alphaLeaseCandidates = "coordination.k8s.io/v1beta1/leasecandidates", "coordination.k8s.io/v1alpha2/leasecandidates"

func newFakeAPI(t testing.TB) (*fakeAPI, *rest.Config) {
	f := &fakeAPI{
		served:   map[string]bool{},
		objects:  map[string]map[string]*unstructured.Unstructured{},
		watchers: map[*fakeWatch]struct{}{},
		requests: map[string]int{},
		refuse:   map[string]bool{},
	}
	f.serve(builtIn...)
	f.serve(ownResources...)
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return f, &rest.Config{Host: server.URL}
}

// serve has resources known.
func (f *fakeAPI) serve(resources ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range resources {
		f.served[r] = true
	}
}

// withdraw has a resource unknown, and its watches end. Its objects are gone
// without an event, as after a lost connection.
func (f *fakeAPI) withdraw(resource string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.served, resource)
	delete(f.objects, resource)
	for w := range f.watchers {
		if w.resource == resource {
			delete(f.watchers, w)
			close(w.gone)
		}
	}
}

func (f *fakeAPI) setRefused(resource string, refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse[resource] = refused
}

// watching counts the watches of a resource.
func (f *fakeAPI) watching(resource string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for w := range f.watchers {
		if w.resource == resource {
			n++
		}
	}
	return n
}

func (f *fakeAPI) requested(methodAndPath string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[methodAndPath]
}

func (f *fakeAPI) names(resource string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for key := range f.objects[resource] {
		names = append(names, key)
	}
	slices.Sort(names)
	return names
}

// put creates or replaces an object.
func (f *fakeAPI) put(t testing.TB, resource string, o runtime.Object) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set(resource, &unstructured.Unstructured{Object: content})
}

func (f *fakeAPI) set(resource string, o *unstructured.Unstructured) {
	f.version++
	o.SetResourceVersion(strconv.Itoa(f.version))
	if f.objects[resource] == nil {
		f.objects[resource] = map[string]*unstructured.Unstructured{}
	}
	key := o.GetNamespace() + "/" + o.GetName()
	old := f.objects[resource][key]
	f.objects[resource][key] = o
	f.publish(resource, old, o)
}

func (f *fakeAPI) remove(resource, namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(resource, namespace+"/"+name)
}

func (f *fakeAPI) drop(resource, key string) {
	f.version++
	old := f.objects[resource][key]
	delete(f.objects[resource], key)
	if old != nil {
		f.publish(resource, old, nil)
	}
}

func (f *fakeAPI) publish(resource string, old, now *unstructured.Unstructured) {
	c := fakeChange{resource: resource, version: f.version, old: old, now: now}
	f.history = append(f.history, c)
	for w := range f.watchers {
		w.notify(c)
	}
}

// fakeChange is one change of an object. old is nil if it was created, now if it
// was deleted.
type fakeChange struct {
	resource string
	version  int
	old, now *unstructured.Unstructured
}

// notify sends what the watch has to see of a change.
func (w *fakeWatch) notify(c fakeChange) {
	if w.resource != c.resource {
		return
	}
	was, is := w.selects(c.old), w.selects(c.now)
	switch {
	case was && is:
		w.events <- fakeEvent{"MODIFIED", c.now}
	case is:
		w.events <- fakeEvent{"ADDED", c.now}
	case was:
		gone := c.old.DeepCopy()
		gone.SetResourceVersion(strconv.Itoa(c.version))
		w.events <- fakeEvent{"DELETED", gone}
	}
}

func (w *fakeWatch) selects(o *unstructured.Unstructured) bool {
	return o != nil && (w.namespace == "" || o.GetNamespace() == w.namespace) && w.selector.Matches(labels.Set(o.GetLabels()))
}

// ServeHTTP implements http.Handler.
func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	groupVersion, namespace, resource, name := parsePath(r.URL.Path)
	f.mu.Lock()
	f.requests[r.Method+" "+r.URL.Path]++
	known, refused := f.served[groupVersion+"/"+resource], f.refuse[groupVersion+"/"+resource]
	f.mu.Unlock()
	switch {
	case resource == "":
		f.discover(w, groupVersion)
	case !known:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case refused:
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case r.URL.Query().Get("watch") == "true":
		f.watch(w, r, groupVersion+"/"+resource, namespace)
	case r.Method == http.MethodGet:
		f.list(w, r, groupVersion+"/"+resource, namespace)
	default:
		f.write(w, r, groupVersion+"/"+resource, namespace, name)
	}
}

func parsePath(path string) (groupVersion, namespace, resource, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		groupVersion, parts = parts[1], parts[2:]
	} else {
		groupVersion, parts = parts[1]+"/"+parts[2], parts[3:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	return groupVersion, namespace, parts[0], parts[1]
}

func fail(w http.ResponseWriter, code int32, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: code, Reason: reason,
		Message: fmt.Sprintf("fake: %s", reason)})
}

func answer(w io.Writer, o any) { _ = json.NewEncoder(w).Encode(o) }

func (f *fakeAPI) discover(w http.ResponseWriter, groupVersion string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: groupVersion}
	for r := range f.served {
		if name, ok := strings.CutPrefix(r, groupVersion+"/"); ok {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
	}
	if list.APIResources == nil {
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer(w, list)
}

// shape is how the client wants an object: as a whole, or its metadata alone.
func shape(r *http.Request, o *unstructured.Unstructured) map[string]any {
	if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		return o.Object
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o.Object["metadata"]}
}

func selectorOf(r *http.Request) labels.Selector {
	s, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return labels.Nothing()
	}
	return s
}

func (f *fakeAPI) list(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	want := &fakeWatch{namespace: namespace, selector: selectorOf(r)}
	items := []any{}
	for _, o := range f.objects[resource] {
		if want.selects(o) {
			items = append(items, shape(r, o))
		}
	}
	apiVersion, kind := resource[:strings.LastIndexByte(resource, '/')], "List"
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	} else if k, ok := listKinds[resource]; ok {
		kind = k
	}
	w.Header().Set("Content-Type", "application/json")
	answer(w, map[string]any{"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(f.version)}, "items": items})
}

var listKinds = map[string]string{
	"v1/pods": "PodList", "v1/nodes": "NodeList", "v1/namespaces": "NamespaceList",
	"apps/v1/replicasets": "ReplicaSetList", "apps/v1/controllerrevisions": "ControllerRevisionList",
	ownResources[0]: "ElectionPolicyList", ownResources[1]: "ClusterElectionPolicyList",
	ownResources[2]: "CandidateList", ownResources[3]: "ElectionList",
	betaLeaseCandidates: "LeaseCandidateList", alphaLeaseCandidates: "LeaseCandidateList",
}

func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	watch := &fakeWatch{resource: resource, namespace: namespace, selector: selectorOf(r),
		events: make(chan fakeEvent, 10_000), gone: make(chan struct{})}
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	f.mu.Lock()
	if since == 0 {
		for _, o := range f.objects[resource] {
			watch.notify(fakeChange{resource: resource, now: o})
		}
	} else {
		for _, c := range f.history { // what came between the list and the watch
			if c.version > since {
				watch.notify(c)
			}
		}
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		mark := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": strings.TrimSuffix(listKinds[resource], "List"), "metadata": map[string]any{
			"resourceVersion": strconv.Itoa(f.version), "annotations": map[string]any{metav1.InitialEventsAnnotationKey: "true"}}}}
		watch.events <- fakeEvent{"BOOKMARK", mark}
	}
	f.watchers[watch] = struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.watchers, watch)
		f.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-watch.gone:
			return
		case e := <-watch.events:
			answer(w, map[string]any{"type": e.Type, "object": shape(r, e.Object)})
			w.(http.Flusher).Flush()
		}
	}
}

func (f *fakeAPI) write(w http.ResponseWriter, r *http.Request, resource, namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body := map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	o := &unstructured.Unstructured{Object: body}
	old := f.objects[resource][namespace+"/"+name]
	switch r.Method {
	case http.MethodPost:
		if f.objects[resource][namespace+"/"+o.GetName()] != nil {
			fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
			return
		}
		f.set(resource, o)
	case http.MethodPatch:
		if old == nil {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		o = old.DeepCopy()
		for k, v := range body["spec"].(map[string]any) {
			_ = unstructured.SetNestedField(o.Object, v, "spec", k)
		}
		f.set(resource, o)
	case http.MethodDelete:
		version, _, _ := unstructured.NestedString(body, "preconditions", "resourceVersion")
		if old == nil {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		if version != "" && version != old.GetResourceVersion() {
			fail(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
		f.drop(resource, namespace+"/"+name)
		o = old
	}
	w.Header().Set("Content-Type", "application/json")
	answer(w, o.Object)
}
