package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// electionAPI is an API server that has Elections, and does to them what the
// controller does, one step each time that one is read.
type electionAPI struct {
	// controller changes an Election before it is read, for the time so many
	// since it was written.
	controller func(e *v1alpha1.Election, reads int)

	mu        sync.Mutex
	elections map[types.NamespacedName]*v1alpha1.Election
	reads     map[types.NamespacedName]int
	// patches are what was written.
	patches []string
	// unserved says that the CRDs are gone.
	unserved bool
}

// serveElections serves the Elections of testdata/byhand/elections.yaml, and
// returns a kubeconfig for them.
func serveElections(t *testing.T) (*electionAPI, string) {
	t.Helper()
	a := &electionAPI{controller: obey, elections: map[types.NamespacedName]*v1alpha1.Election{}, reads: map[types.NamespacedName]int{}}
	raw, err := os.ReadFile("testdata/byhand/elections.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(string(raw), "\n---\n") {
		e := &v1alpha1.Election{}
		if err := yaml.UnmarshalStrict([]byte(document), e); err != nil {
			t.Fatal(err)
		}
		a.elections[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = e
	}
	const base = "/apis/leasewarden.dev/v1alpha1"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/elections", a.list)
	mux.HandleFunc("GET "+base+"/namespaces/{namespace}/elections", a.list)
	mux.HandleFunc("POST "+base+"/namespaces/{namespace}/elections", a.create)
	mux.HandleFunc("GET "+base+"/namespaces/{namespace}/elections/{name}", a.get)
	mux.HandleFunc("PATCH "+base+"/namespaces/{namespace}/elections/{name}", a.patch)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return a, writeTestKubeconfig(t, server.URL)
}

func writeTestKubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: url}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", Namespace: "kube-system"}},
		CurrentContext: "c",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func keyOfRequest(r *http.Request) types.NamespacedName {
	return types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

func (a *electionAPI) list(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := &v1alpha1.ElectionList{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ElectionList"}}
	for key, e := range a.elections {
		if namespace := r.PathValue("namespace"); namespace == "" || namespace == key.Namespace {
			list.Items = append(list.Items, *a.read(key, e))
		}
	}
	reply(w, http.StatusOK, list)
}

func (a *electionAPI) get(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unserved {
		http.NotFound(w, r)
		return
	}
	key := keyOfRequest(r)
	e := a.elections[key]
	if e == nil {
		notFound(w, key)
		return
	}
	reply(w, http.StatusOK, a.read(key, e))
}

// read has the controller do its next step.
func (a *electionAPI) read(key types.NamespacedName, e *v1alpha1.Election) *v1alpha1.Election {
	a.controller(e, a.reads[key])
	a.reads[key]++
	return e
}

func (a *electionAPI) create(w http.ResponseWriter, r *http.Request) {
	e := &v1alpha1.Election{}
	if err := json.NewDecoder(r.Body).Decode(e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Generation = 1
	a.elections[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = e
	reply(w, http.StatusCreated, e)
}

func (a *electionAPI) patch(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := keyOfRequest(r)
	e := a.elections[key]
	if e == nil {
		notFound(w, key)
		return
	}
	patch, _ := io.ReadAll(r.Body)
	a.patches = append(a.patches, string(patch))
	before, err := json.Marshal(e)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	merged, err := jsonpatch.MergePatch(before, patch)
	after := &v1alpha1.Election{}
	if err == nil {
		err = json.Unmarshal(merged, after)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	after.Generation++
	a.elections[key], a.reads[key] = after, 0
	reply(w, http.StatusOK, after)
}

func notFound(w http.ResponseWriter, key types.NamespacedName) {
	status := apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "elections"}, key.Name).Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	reply(w, http.StatusNotFound, &status)
}

func reply(w http.ResponseWriter, code int, object any) {
	if e, ok := object.(*v1alpha1.Election); ok {
		e.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Election"))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

// obey is a controller that does what people want: a switchover takes four
// steps, a pin and a pause one.
func obey(e *v1alpha1.Election, reads int) {
	if request := e.Spec.Switchover; request != nil {
		obeySwitchover(e, request, reads)
		return
	}
	switch {
	case e.Spec.Paused:
		e.Status.Chosen, e.Status.Criterion = "", "Paused"
	case e.Spec.Pin != "":
		e.Status.Chosen, e.Status.Criterion = e.Spec.Pin, "Pinned"
		lead(e, e.Spec.Pin)
	case e.Status.Criterion == "Paused" || e.Status.Criterion == "Pinned":
		e.Status.Chosen, e.Status.Criterion = e.Status.Candidates[0].Name, string(e.Status.Strategy)
	}
}

func obeySwitchover(e *v1alpha1.Election, request *v1alpha1.Switchover, reads int) {
	answer := &v1alpha1.SwitchoverStatus{
		To: request.To, At: request.At, State: v1alpha1.SwitchoverInProgress,
		Time: metav1.NewTime(pickTime), ObservedGeneration: e.Generation,
	}
	deadline := metav1.NewTime(pickTime.Add(request.TimeoutOrDefault()))
	answer.Deadline = &deadline
	switch {
	case request.At != nil:
		answer.State, answer.Deadline = v1alpha1.SwitchoverScheduled, nil
	case reads == 0:
		answer.Message = "waiting for " + e.Status.Holder.Name + " to give the Lease up"
	case reads < 4:
		e.Status.Holder = nil
		answer.Message = "waiting for " + request.To + " to acquire the Lease"
	default:
		answer.State, answer.Deadline, e.Spec.Switchover = v1alpha1.SwitchoverDone, nil, nil
		lead(e, request.To)
	}
	e.Status.Switchover = answer
}

func lead(e *v1alpha1.Election, name string) {
	if leads(e, name) {
		return
	}
	since := metav1.NewTime(pickTime.Add(-time.Second))
	e.Status.Holder = &v1alpha1.ElectionHolder{Name: name, Identity: name + "_1", Since: &since}
}
