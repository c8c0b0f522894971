package documents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// header is what tells one object from another.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
}

// readHeader takes what an item leaves out from its list.
func readHeader(object []byte, list schema.GroupVersionKind) (header, schema.GroupVersionKind, error) {
	var h header
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, &h); err != nil {
		return h, schema.GroupVersionKind{}, fmt.Errorf("is not a Kubernetes object: %w", explain(err))
	}
	if h.APIVersion == "" && h.Kind == "" && isList(list) && list.Kind != "List" {
		// The API server's own lists leave out what all items have in common.
		h.APIVersion, h.Kind = list.GroupVersion().String(), strings.TrimSuffix(list.Kind, "List")
	}
	switch {
	case h.Kind == "":
		return h, schema.GroupVersionKind{}, errors.New("is not a Kubernetes object: kind: Required value")
	case h.APIVersion == "":
		return h, schema.GroupVersionKind{}, errors.New("is not a Kubernetes object: apiVersion: Required value")
	}
	gv, err := schema.ParseGroupVersion(h.APIVersion)
	if err != nil {
		return h, schema.GroupVersionKind{}, fmt.Errorf("apiVersion: %w", err)
	}
	return h, gv.WithKind(h.Kind), nil
}

// String is how messages name the object: "Pod kube-system/a".
func (h header) String() string {
	name := h.Metadata.Name
	if h.Metadata.Namespace != "" {
		name = h.Metadata.Namespace + "/" + name
	}
	return strings.TrimSpace(h.Kind + " " + name)
}

func isList(k schema.GroupVersionKind) bool { return strings.HasSuffix(k.Kind, "List") }

// readItems returns the objects in a list.
func readItems(list []byte) ([]json.RawMessage, error) {
	var l struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(list, &l); err != nil {
		return nil, explain(err)
	}
	return l.Items, nil
}

// explain says in the words of a manifest what encoding/json says in those of
// Go.
func explain(err error) error {
	var wrongType *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrongType):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case wrongType.Field == "":
		return fmt.Errorf("must not be of type %s", wrongType.Value)
	}
	return fmt.Errorf("%s: must not be of type %s", wrongType.Field, wrongType.Value)
}
