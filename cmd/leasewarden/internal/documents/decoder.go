package documents

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/apischema"
)

// decoder reads one file into a Set.
type decoder struct {
	set       *Set
	namespace string
	file      string
	errs      []error
}

func (d *decoder) decode(stream io.Reader) error {
	number := 0
	for doc, err := range split(stream) {
		number++
		at := Origin{File: d.file, Document: number}
		if err != nil {
			d.fail(at.String(), err)
			continue
		}
		d.decodeDocument(at, doc)
	}
	return errors.Join(d.errs...)
}

// fail notes everything that err joins, each with its subject.
func (d *decoder) fail(subject string, err error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		d.errs = append(d.errs, fmt.Errorf("%s: %w", subject, err))
		return
	}
	for _, err := range joined.Unwrap() {
		d.fail(subject, err)
	}
}

func (d *decoder) decodeDocument(at Origin, doc document) {
	before := len(d.errs)
	if !d.decodeAny(at, doc.json, schema.GroupVersionKind{}) {
		return
	}
	if err := doc.checkDuplicates(); err != nil {
		// What else is wrong may only follow from the half that was lost.
		d.errs = d.errs[:before]
		d.fail(at.String(), err)
	}
}

// decodeAny decodes an object, or the objects of a list, and reports whether
// one of them is of our own API.
func (d *decoder) decodeAny(at Origin, object []byte, list schema.GroupVersionKind) (ours bool) {
	h, kind, err := readHeader(object, list)
	if err != nil {
		d.fail(at.String(), err)
		return false
	}
	if isList(kind) {
		return d.decodeList(at, object, kind)
	}
	if err := d.decodeOne(at, object, &h, kind); err != nil {
		d.fail(at.String()+": "+h.String(), err)
	}
	return isOurs(kind)
}

func (d *decoder) decodeList(at Origin, list []byte, kind schema.GroupVersionKind) (ours bool) {
	items, err := readItems(list)
	if err != nil {
		d.fail(at.String()+": "+kind.Kind, err)
		return false
	}
	for i, item := range items {
		at.Item = i + 1
		ours = d.decodeAny(at, item, kind) || ours
	}
	return ours
}

// decodeOne adds an object to the set, or leaves it out if no decision depends
// on its kind. It completes the header.
func (d *decoder) decodeOne(at Origin, data []byte, h *header, k schema.GroupVersionKind) error {
	known, ok := kinds[k]
	switch {
	case !ok && !isOurs(k):
		return d.leaveOut(k)
	case known.cluster:
		h.Metadata.Namespace = ""
	case h.Metadata.Namespace == "":
		h.Metadata.Namespace = d.namespace
	}
	if h.Metadata.Name == "" {
		return errors.New("metadata.name: Required value")
	}
	o, err := decodeObject(data, known, k)
	if err != nil {
		return err
	}
	o.SetNamespace(h.Metadata.Namespace)
	if twin, twice := d.set.add(Object{Object: o, Kind: k, Origin: at}); twice {
		return fmt.Errorf("is given twice, first in %s", twin)
	}
	return nil
}

func (d *decoder) leaveOut(k schema.GroupVersionKind) error {
	if versions := supportedVersions(k.GroupKind()); len(versions) > 0 {
		return field.NotSupported(field.NewPath("apiVersion"), k.GroupVersion().String(), versions)
	}
	d.set.ignored[k]++
	return nil
}

func decodeObject(data []byte, known kind, k schema.GroupVersionKind) (client.Object, error) {
	if isOurs(k) {
		return decodeOurs(data, known, k)
	}
	o := known.make()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, o); err != nil {
		return nil, locate(explain(err), err, data)
	}
	return o, nil
}

// decodeOurs is as strict as the API server.
func decodeOurs(data []byte, known kind, k schema.GroupVersionKind) (client.Object, error) {
	content := map[string]any{}
	duplicates, err := kjson.UnmarshalStrict(data, &content, kjson.DisallowDuplicateFields)
	if err := errors.Join(append(duplicates, err)...); err != nil {
		return nil, err
	}
	// An item of a list may leave these to the list.
	content["apiVersion"], content["kind"] = k.GroupVersion().String(), k.Kind
	problems, err := apischema.Admit(k, content)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	o := known.make()
	return o, runtime.DefaultUnstructuredConverter.FromUnstructured(content, o)
}

func joined(problems field.ErrorList) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}
