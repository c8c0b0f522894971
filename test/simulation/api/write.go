package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func encode(f map[string]any) ([]byte, error) { return json.Marshal(f) }

func marshal(o any) ([]byte, error) { return json.Marshal(o) }

// change is a write that came over HTTP.
type change struct {
	target
	verb  string // create, update, patch, delete
	patch types.PatchType
	body  []byte
}

func (c *change) group() schema.GroupResource {
	return schema.GroupResource{Group: resources[c.resource].Group, Resource: resources[c.resource].Kind}
}

// write carries out a change, and returns the object that came of it.
func (l *Link) write(c *change) ([]byte, error) {
	if c.resource == Leases && c.verb != "delete" {
		return l.changeLease(c)
	}
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.objects[c.resource][c.namespace+"/"+c.name]
	switch {
	case c.verb == "create":
		return s.create(c)
	case old == nil && c.patch == types.ApplyPatchType && c.sub == "":
		return s.create(c)
	case old == nil:
		return nil, apierrors.NewNotFound(c.group(), c.name)
	case c.verb == "delete":
		return s.remove(c, old)
	case c.sub == "eviction":
		return nil, apierrors.NewMethodNotSupported(c.group(), "evict")
	}
	f, err := c.changed(old)
	if err != nil {
		return nil, err
	}
	o := must(newObject(must(encode(f))))
	return s.set(c.resource, o, "").raw, nil
}

func (s *Server) create(c *change) ([]byte, error) {
	f, err := fieldsOf(c.body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if c.namespace != "" {
		metadataOf(f)["namespace"] = c.namespace
	}
	gvk := resources[c.resource].GroupVersionKind
	f["apiVersion"], f["kind"] = gvk.GroupVersion().String(), gvk.Kind
	if resources[c.resource].status {
		delete(f, "status")
	}
	o, err := newObject(must(encode(f)))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if s.objects[c.resource][o.key()] != nil {
		return nil, apierrors.NewAlreadyExists(c.group(), o.Name)
	}
	return s.set(c.resource, o, "").raw, nil
}

func (s *Server) remove(c *change, old *Object) ([]byte, error) {
	var options metav1.DeleteOptions
	if len(c.body) > 0 {
		if err := json.Unmarshal(c.body, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != old.UID || p.ResourceVersion != nil && *p.ResourceVersion != old.ResourceVersion {
			return nil, apierrors.NewConflict(c.group(), c.name, errors.New("the precondition failed"))
		}
	}
	raw := old.JSON()
	s.drop(c.resource, old.key())
	return raw, nil
}

// changed is the object as the change makes it.
func (c *change) changed(old *Object) (map[string]any, error) {
	raw := old.JSON()
	wanted, err := c.apply(raw)
	if err != nil {
		return nil, err
	}
	if err := c.check(old, wanted); err != nil {
		return nil, err
	}
	if !resources[c.resource].status {
		return wanted, nil
	}
	// A status is only written by itself, and nothing else with it.
	before := must(fieldsOf(raw))
	if c.sub == "status" {
		status := wanted["status"]
		wanted = before
		before = map[string]any{"status": status}
	}
	delete(wanted, "status")
	if status := before["status"]; status != nil {
		wanted["status"] = status
	}
	return wanted, nil
}

func (c *change) apply(raw []byte) (map[string]any, error) {
	var out []byte
	var err error
	switch {
	case c.verb == "update":
		out = c.body
	case c.patch == types.MergePatchType:
		out, err = jsonpatch.MergePatch(raw, c.body)
	case c.patch == types.JSONPatchType:
		out, err = applyJSONPatch(raw, c.body)
		if err != nil {
			return nil, apierrors.NewInvalid(resources[c.resource].GroupKind(), c.name, nil)
		}
	case c.patch == types.ApplyPatchType:
		return c.applied(raw)
	default:
		err = fmt.Errorf("patches of type %q are not known", c.patch)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return fieldsOf(out)
}

func applyJSONPatch(raw, body []byte) ([]byte, error) {
	p, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	return p.Apply(raw)
}

// applied is a server-side apply of Leasewarden's: it owns labels, and the status
// as a whole.
func (c *change) applied(raw []byte) (map[string]any, error) {
	now, wanted := must(fieldsOf(raw)), map[string]any{}
	if err := json.Unmarshal(c.body, &wanted); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if status, ok := wanted["status"]; ok {
		now["status"] = status
	}
	if add, ok := metadataOf(wanted)["labels"].(map[string]any); ok {
		labels, _ := metadataOf(now)["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
		}
		maps.Copy(labels, add)
		metadataOf(now)["labels"] = labels
	}
	return now, nil
}

// check compares the preconditions in an object with what is there.
func (c *change) check(old *Object, wanted map[string]any) error {
	m := metadataOf(wanted)
	if version, _ := m["resourceVersion"].(string); version != "" && version != old.ResourceVersion {
		return apierrors.NewConflict(c.group(), c.name, errModified)
	}
	if uid, _ := m["uid"].(string); uid != "" && uid != string(old.UID) {
		return apierrors.NewConflict(c.group(), c.name, errors.New("the UID in the precondition does not match"))
	}
	return nil
}

// changeLease is write for a Lease: it goes through admission.
func (l *Link) changeLease(c *change) ([]byte, error) {
	if c.verb == "create" {
		wanted, err := decodeLease(c.body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		wanted.Namespace = c.namespace
		written, err := l.createLease(wanted)
		return encoded(written, err)
	}
	written, err := l.writeLease(c.namespace+"/"+c.name, func(old *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(leaseGroup, c.name)
		}
		f, err := c.changed(&Object{ObjectMeta: old.ObjectMeta, Lease: old})
		if err != nil {
			return nil, err
		}
		return decodeLease(must(encode(f)))
	})
	return encoded(written, err)
}

func encoded(l *coordinationv1.Lease, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return encodeLease(l), nil
}
