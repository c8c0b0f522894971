package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Config is how clients that speak HTTP use the Link.
func (l *Link) Config() *rest.Config {
	return &rest.Config{
		Host: "http://" + l.frontend.name, Transport: l, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

// RoundTrip implements http.RoundTripper.
func (l *Link) RoundTrip(r *http.Request) (*http.Response, error) {
	t := parsePath(r.URL.Path)
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	var answer []byte
	var stream *watch
	write := r.Method != http.MethodGet
	err := l.do(r.Context(), r.Method+" "+r.URL.Path, write, func() (err error) {
		switch {
		case t.resource == "":
			answer, err = discover(t.group)
		case resources[t.resource].Kind == "":
			err = apierrors.NewNotFound(schema.GroupResource{Resource: t.resource}, t.name)
		case r.URL.Query().Get("watch") == "true":
			stream, err = l.openWatch(r, t)
		case !write && t.name != "":
			answer, err = l.get(r, t)
		case !write:
			answer, err = l.list(r, t)
		default:
			answer, err = l.write(&change{target: t, verb: verbs[r.Method], patch: types.PatchType(r.Header.Get("Content-Type")), body: body})
		}
		return err
	})
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		s := status.Status()
		s.APIVersion, s.Kind = "v1", "Status"
		return respond(r, int(s.Code), must(marshal(s))), nil
	case err != nil:
		return nil, err
	case stream != nil:
		response := respond(r, http.StatusOK, nil)
		response.Body = stream
		return response, nil
	}
	return respond(r, http.StatusOK, answer), nil
}

var verbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

func respond(r *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: code, Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// discover tells what a group has.
func discover(group string) ([]byte, error) {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: group}
	for name := range resources {
		if plural, ok := strings.CutPrefix(name, group+"/"); ok {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: plural})
		}
	}
	if list.APIResources == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: group}, "")
	}
	return marshal(list)
}

func selectionOf(r *http.Request, t target) (selection, error) {
	s := selection{resource: t.resource, namespace: t.namespace, metadata: strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")}
	var err, err2 error
	s.labels, err = labels.Parse(r.URL.Query().Get("labelSelector"))
	s.fields, err2 = fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	return s, errors.Join(err, err2)
}

func (l *Link) openWatch(r *http.Request, t target) (*watch, error) {
	s, err := selectionOf(r, t)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	since, _ := strconv.ParseUint(r.URL.Query().Get("resourceVersion"), 10, 64)
	if l.server.forgot(since) {
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d", since))
	}
	return l.server.watch(r.Context(), l, s, since, r.URL.Query().Get("sendInitialEvents") == "true"), nil
}

func (l *Link) get(r *http.Request, t target) ([]byte, error) {
	s, err := selectionOf(r, t)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	o := l.server.objects[t.resource][t.namespace+"/"+t.name]
	if o == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: t.resource}, t.name)
	}
	return s.shape(o), nil
}

func (l *Link) list(r *http.Request, t target) ([]byte, error) {
	s, err := selectionOf(r, t)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	gvk := resources[t.resource].GroupVersionKind
	if s.metadata {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	var items [][]byte
	for _, o := range l.server.list(t.resource) {
		if s.selects(o) {
			items = append(items, s.shape(o))
		}
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d"},"items":[%s]}`,
		gvk.GroupVersion(), gvk.Kind+"List", l.server.version, bytes.Join(items, []byte(","))), nil
}
