package plugins

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// view is what an expression is evaluated on. It hands out the fields of the
// state one by one, as they are asked for, and copies nothing.
type view struct {
	state     *picker.State
	candidate *picker.Candidate
	object    *object
}

// object is the type of a variable: its fields, read from a view.
type object struct {
	celType *types.Type
	fields  map[string]*types.FieldType
}

func (o *object) fieldNames() []string { return slices.Sorted(maps.Keys(o.fields)) }

// newObjectType makes a type whose name an expression cannot write, for the
// slash in it, so that it cannot make a value of the type.
func newObjectType(name string) *types.Type {
	return types.NewObjectType(v1alpha1.AnnotationPrefix+name, traits.FieldTesterType, traits.IndexerType)
}

var (
	candidateType = newObjectType("Candidate")
	leaseType     = newObjectType("Lease")
	stringMap     = cel.MapType(cel.StringType, cel.StringType)
	stringList    = cel.ListType(cel.StringType)

	objects = map[string]*object{
		candidateType.TypeName(): candidateObject,
		leaseType.TypeName():     leaseObject,
	}
)

var candidateObject = &object{celType: candidateType, fields: map[string]*types.FieldType{
	"name":             stringField(func(v *view) string { return v.candidate.Name }),
	"node":             stringField(func(v *view) string { return v.candidate.Node }),
	"revision":         stringField(func(v *view) string { return v.candidate.Revision }),
	"binaryVersion":    stringField(func(v *view) string { return v.candidate.BinaryVersion.String() }),
	"emulationVersion": stringField(func(v *view) string { return v.candidate.EmulationVersion.String() }),
	"labels":           mapField(func(v *view) map[string]string { return v.candidate.Labels }),
	"annotations":      mapField(func(v *view) map[string]string { return v.candidate.Annotations }),
	"nodeLabels":       mapField(func(v *view) map[string]string { return v.candidate.NodeLabels }),
	"priority":         intField(func(v *view) int64 { return int64(effectivePriority(v.state, v.candidate)) }),
	"revisionNumber":   intField(func(v *view) int64 { return v.candidate.RevisionNumber }),
	"created":          timeField("candidate.created", func(v *view) time.Time { return v.candidate.Created }),
	"lastAttempt":      timeField("candidate.lastAttempt", func(v *view) time.Time { return v.candidate.LastAttempt }),
	"sources": newField(stringList, sourcesOf, func(sources []string) bool {
		return len(sources) > 0
	}),
}}

var leaseObject = &object{celType: leaseType, fields: map[string]*types.FieldType{
	"namespace":   stringField(func(v *view) string { return v.state.Lease.Namespace }),
	"name":        stringField(func(v *view) string { return v.state.Lease.Name }),
	"holder":      stringField(func(v *view) string { return v.state.Lease.Holder }),
	"lastHolder":  stringField(func(v *view) string { return v.state.Lease.LastHolder }),
	"labels":      mapField(func(v *view) map[string]string { return v.state.Lease.Labels }),
	"annotations": mapField(func(v *view) map[string]string { return v.state.Lease.Annotations }),
	"duration": newField(cel.DurationType,
		func(v *view) time.Duration { return v.state.Lease.Duration },
		func(d time.Duration) bool { return d != 0 }),
}}

func sourcesOf(v *view) []string {
	sources := make([]string, len(v.candidate.Sources))
	for i, s := range v.candidate.Sources {
		sources[i] = string(s)
	}
	return sources
}

func newField[T any](celType *types.Type, get func(*view) T, isSet func(T) bool) *types.FieldType {
	return &types.FieldType{
		Type:    celType,
		IsSet:   func(target any) bool { return isSet(get(target.(*view))) },
		GetFrom: func(target any) (any, error) { return get(target.(*view)), nil },
	}
}

func stringField(get func(*view) string) *types.FieldType {
	return newField(cel.StringType, get, func(s string) bool { return s != "" })
}

func intField(get func(*view) int64) *types.FieldType {
	return newField(cel.IntType, get, func(n int64) bool { return n != 0 })
}

func mapField(get func(*view) map[string]string) *types.FieldType {
	return newField(stringMap, get, func(m map[string]string) bool { return len(m) > 0 })
}

// timeField is a time that may be unknown, and then cannot be read.
func timeField(name string, get func(*view) time.Time) *types.FieldType {
	f := newField(cel.TimestampType, get, func(t time.Time) bool { return !t.IsZero() })
	f.GetFrom = func(target any) (any, error) {
		t := get(target.(*view))
		if t.IsZero() {
			return nil, fmt.Errorf("%s is not known; ask has(%s) first", name, name)
		}
		return t, nil
	}
	return f
}

var _ interface {
	ref.Val
	traits.FieldTester
	traits.Indexer
} = (*view)(nil)

// ConvertToNative implements ref.Val.
func (v *view) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("%s is no %v", v.object.celType.TypeName(), t)
}

// ConvertToType implements ref.Val.
func (v *view) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return v.object.celType
	}
	return types.NewErr("%s is no %s", v.object.celType.TypeName(), t.TypeName())
}

// Equal implements ref.Val. One decision has one Lease, and a candidate is
// compared with itself only, so the type decides.
func (v *view) Equal(other ref.Val) ref.Val {
	o, ok := other.(*view)
	return types.Bool(ok && o.object == v.object)
}

// Type implements ref.Val.
func (v *view) Type() ref.Type { return v.object.celType }

// Value implements ref.Val.
func (v *view) Value() any { return v }

// IsSet implements traits.FieldTester, for an expression that hides the type
// with dyn().
func (v *view) IsSet(name ref.Val) ref.Val {
	f, ok := v.object.fields[fmt.Sprint(name.Value())]
	return types.Bool(ok && f.IsSet(v))
}

// Get implements traits.Indexer, for the same.
func (v *view) Get(name ref.Val) ref.Val {
	f, ok := v.object.fields[fmt.Sprint(name.Value())]
	if !ok {
		return types.NewErr("no such field: %v", name.Value())
	}
	value, err := f.GetFrom(v)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}
