package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Commit is a change of an object. Old is nil if it was made, New if it was
// deleted.
type Commit struct {
	Resource string
	Old, New *Object
	// Version is the resourceVersion of the change.
	Version uint64
	// By is the Link that wrote a Lease. Empty: none did.
	By string
}

// Server is what all kube-apiservers of a cluster have in common: the storage.
type Server struct {
	seed uint64
	// Committed is told of every change, in order, with the lock held.
	Committed func(Commit)

	mu        sync.Mutex
	version   uint64
	compacted uint64 // all changes until this version are forgotten
	made      map[string]int
	objects   map[string]map[string]*Object
	log       map[string][]Commit
	watches   map[*watch]struct{}
	frontends []*Frontend
	backends  []*Backend
}

// NewServer makes an empty one.
func NewServer(seed uint64) *Server {
	return &Server{
		seed: seed, version: 1, made: map[string]int{},
		objects: map[string]map[string]*Object{}, log: map[string][]Commit{}, watches: map[*watch]struct{}{},
	}
}

// Put makes or replaces an object, past every admission.
func (s *Server) Put(resource string, o runtime.Object) {
	o.GetObjectKind().SetGroupVersionKind(resources[resource].GroupVersionKind)
	object := must(newObject(must(json.Marshal(o))))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(resource, object, "")
}

// PutLease is Put for a Lease.
func (s *Server) PutLease(l *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(Leases, newLease(l.DeepCopy()), "")
}

// Remove deletes an object, if there is one.
func (s *Server) Remove(resource, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(resource, namespace+"/"+name)
}

// Get returns an object as it is, or nil.
func (s *Server) Get(resource, namespace, name string) *Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[resource][namespace+"/"+name]
}

// Read decodes an object as it is, and reports whether there is one.
func (s *Server) Read(resource, namespace, name string, into any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[resource][namespace+"/"+name]
	if o != nil {
		must(0, json.Unmarshal(o.JSON(), into))
	}
	return o != nil
}

// List are all objects of a resource, by namespace and name.
func (s *Server) List(resource string) []*Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list(resource)
}

func (s *Server) list(resource string) []*Object {
	all := make([]*Object, 0, len(s.objects[resource]))
	for _, o := range s.objects[resource] {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Object) int { return compare(a.key(), b.key()) })
	return all
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// set stores an object that nobody else has, and tells of it.
func (s *Server) set(resource string, o *Object, by string) *Object {
	s.version++
	key := o.key()
	old := s.objects[resource][key]
	s.stamp(resource, old, o)
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]*Object{}
	}
	s.objects[resource][key] = o
	s.publish(Commit{Resource: resource, Old: old, New: o, Version: s.version, By: by})
	return o
}

// stamp fills in what the API server does.
func (s *Server) stamp(resource string, old, o *Object) {
	o.version = s.version
	o.ResourceVersion = strconv.FormatUint(s.version, 10)
	if old != nil {
		o.UID, o.CreationTimestamp = old.UID, old.CreationTimestamp
	} else {
		s.made[resource+" "+o.key()]++
		o.UID = types.UID(fmt.Sprintf("%s-%d", o.key(), s.made[resource+" "+o.key()]))
		if o.CreationTimestamp.IsZero() {
			o.CreationTimestamp = metav1.NewTime(time.Now().Truncate(time.Second))
		}
	}
	if o.Lease != nil {
		o.Lease.ObjectMeta = o.ObjectMeta
		o.raw = nil
		return
	}
	f := must(fieldsOf(o.raw))
	o.Generation = generation(old, f)
	m := metadataOf(f)
	m["resourceVersion"], m["uid"], m["generation"] = o.ResourceVersion, o.UID, o.Generation
	m["creationTimestamp"] = o.CreationTimestamp
	o.raw = must(json.Marshal(f))
}

// generation counts the changes of the spec.
func generation(old *Object, f map[string]any) int64 {
	if old == nil {
		return 1
	}
	before := must(fieldsOf(old.raw))
	if string(must(json.Marshal(before["spec"]))) == string(must(json.Marshal(f["spec"]))) {
		return old.Generation
	}
	return old.Generation + 1
}

// drop deletes an object, if there is one.
func (s *Server) drop(resource, key string) {
	old := s.objects[resource][key]
	if old == nil {
		return
	}
	s.version++
	delete(s.objects[resource], key)
	s.publish(Commit{Resource: resource, Old: old, Version: s.version})
}

// Compact forgets all changes so far: a watch that would go on from one of them
// has to begin with a list again.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = s.version
	clear(s.log)
}

// forgot reports whether changes after a version are not known any more. 0 asks
// for none.
func (s *Server) forgot(since uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return since > 0 && since < s.compacted
}

func (s *Server) publish(c Commit) {
	s.log[c.Resource] = append(s.log[c.Resource], c)
	for w := range s.watches {
		w.see(c)
	}
	if c.Resource == Validating || c.Resource == Mutating {
		for _, f := range s.frontends {
			f.configured(c)
		}
	}
	if s.Committed != nil {
		s.Committed(c)
	}
}
