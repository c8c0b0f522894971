package apischema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// What the API server takes must fit the Go types: one object that cannot be
// read keeps every watch of its kind, in the whole cluster, from being filled.
// And what was read must be taken again, or it could not be repeated in a status.
func TestWhatIsAdmittedCanBeReadAndWritten(t *testing.T) {
	values := []string{
		"", "banana", "1", "5x", "1.5h", "-5s", "9999999h", "1d", "30s", "1h1m1s", "10us",
		"2026-12-01T00:00:00Z", "2026-12-01t00:00:00z", "2026-12-01T00:00:00.5Z", "2026-12-01T00:00:00.123456Z",
		"2026-12-01T00:00:00.123456789Z", "2026-12-01T00:00:00", "2026-12-01", "2026-02-31T00:00:00Z", "2026-12-01T00:00:60Z",
		"2026-12-01T24:00:00Z", "2026-12-01T00:00:00+99:99", "2026-12-01T00:00:00+23:59", "2026-12-01T00:00:00.123456-08:00",
		"12026-12-01T00:00:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z", "0001-01-01T01:00:00.000000+01:00",
		"1970-01-01T00:00:00+23:59", "1970-01-01T00:00:00.000000+23:59", "1969-12-31T23:59:59.999999-23:00", "9998-12-31T23:59:59.999999-23:00",
		"9999-12-31T23:59:59-23:00", "9999-12-31T23:59:59.999999-23:00",
	}
	fields := 0
	const policy = `{spec: {leases: {names: [a]}, strategy: {name: FirstCome}}}`
	for kind, test := range map[string]struct {
		object any
		valid  string
	}{
		"ElectionPolicy":        {&v1alpha1.ElectionPolicy{}, policy},
		"ClusterElectionPolicy": {&v1alpha1.ClusterElectionPolicy{}, policy},
		"Election":              {&v1alpha1.Election{}, `{spec: {switchover: {to: a}}}`},
		"Candidate":             {&v1alpha1.Candidate{}, `{spec: {leaseName: a, identity: a}}`},
	} {
		typ := reflect.TypeOf(test.object).Elem()
		spec, _ := typ.FieldByName("Spec")
		for _, path := range parsedFields(spec.Type, []string{"spec"}) {
			admitted := 0
			for _, value := range values {
				document := parse(t, test.valid)
				set(document, path, value)
				gvk := v1alpha1.GroupVersion.WithKind(kind)
				problems, err := Admit(gvk, document)
				if err != nil {
					t.Fatal(err)
				}
				if len(problems) > 0 {
					continue
				}
				admitted++
				raw, err := json.Marshal(document)
				if err != nil {
					t.Fatal(err)
				}
				object := reflect.New(typ).Interface()
				if err := json.Unmarshal(raw, object); err != nil {
					t.Errorf("%s with %s: %q is admitted, and then: %v", kind, strings.Join(path, "."), value, err)
					continue
				}
				if err := writable(t, gvk, object, path); err != nil {
					t.Errorf("%s with %s: %q is admitted and read, and then: %v", kind, strings.Join(path, "."), value, err)
				}
			}
			if fields++; admitted == 0 {
				t.Errorf("%s: no value of %s is admitted", kind, strings.Join(path, "."))
			}
		}
	}
	if fields < 12 {
		t.Errorf("found %d fields only", fields)
	}
}

// writable returns an error if the object is not admitted as Go writes it, or
// has lost the field of that path.
func writable(t *testing.T, kind schema.GroupVersionKind, object any, path []string) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	document := parse(t, string(raw))
	// Go writes a status of nothing, which is a subresource.
	delete(document, "status")
	value, found, err := unstructured.NestedString(document, path...)
	if err != nil || !found {
		return fmt.Errorf("it is written as %v (%w)", value, err)
	}
	problems, err := Admit(kind, document)
	return errors.Join(err, problems.ToAggregate())
}

func set(document map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, ok := document[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			document[name] = next
		}
		document = next
	}
	document[path[len(path)-1]] = value
}

// parsedFields are the paths of the strings that Go parses.
func parsedFields(typ reflect.Type, path []string) (found [][]string) {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch typ {
	case reflect.TypeFor[metav1.Duration](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return [][]string{path}
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" { // inlined
			found = append(found, parsedFields(field.Type, path)...)
			continue
		}
		found = append(found, parsedFields(field.Type, append(path[:len(path):len(path)], name))...)
	}
	return found
}
