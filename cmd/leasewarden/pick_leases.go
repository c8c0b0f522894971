package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// leases are the governed Leases to decide on: that of --lease, or all.
func (in *pickInput) leases(flag string) ([]types.NamespacedName, error) {
	namespace, name, qualified := splitLease(flag)
	switch {
	case qualified && (namespace == "" || name == "" || strings.Contains(name, "/")):
		return nil, fmt.Errorf("--lease: %q is not NAMESPACE/NAME", flag)
	case !qualified:
		namespace = in.namespace
	}
	if key := (types.NamespacedName{Namespace: namespace, Name: name}); namespace != "" && name != "" {
		if in.objects.Governing(key).Policy == nil {
			return nil, in.notGoverned(key)
		}
		return []types.NamespacedName{key}, nil
	}
	found := slices.DeleteFunc(in.governed(), func(key types.NamespacedName) bool {
		return namespace != "" && key.Namespace != namespace || name != "" && key.Name != name
	})
	switch {
	case len(found) > 0:
		return found, nil
	case name != "":
		return nil, fmt.Errorf("no governed Lease %s in %s: give --lease as NAMESPACE/NAME if it does not exist yet", name, place(namespace))
	}
	return nil, in.nothingGoverned(namespace)
}

// splitLease reports whether a Lease is given with its namespace.
func splitLease(flag string) (namespace, name string, qualified bool) {
	namespace, name, qualified = strings.Cut(flag, "/")
	if !qualified {
		return "", flag, false
	}
	return namespace, name, true
}

// governed are the governed Leases that are there or have candidates, and those
// that policies name.
func (in *pickInput) governed() []types.NamespacedName {
	all := in.objects.Leases()
	for _, p := range in.objects.Policies() {
		all = append(all, in.namedWithPods(p)...)
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}

// namedWithPods are Leases that a policy of the cluster names, in the namespaces
// where it governs them and has Pods for them: nothing else tells where such a
// Lease will be.
func (in *pickInput) namedWithPods(p *candidates.Policy) []types.NamespacedName {
	if p.Ref.Namespace != "" || p.Spec.Candidates.Pods == nil {
		return nil
	}
	var named []types.NamespacedName
	for namespace := range in.podNamespaces {
		for _, name := range p.Spec.Leases.Names {
			key := types.NamespacedName{Namespace: namespace, Name: name}
			exact := !strings.Contains(name, "*")
			if exact && in.objects.Governing(key).Policy == p && len(in.objects.Pods(p, key)) > 0 {
				named = append(named, key)
			}
		}
	}
	return named
}

// notGoverned says which policies come nearest.
func (in *pickInput) notGoverned(key types.NamespacedName) error {
	for _, p := range in.objects.Policies() {
		if p.Spec.Mode == v1alpha1.Disabled && p.SelectsName(key.Name) && (p.Ref.Namespace == "" || p.Ref.Namespace == key.Namespace) {
			return fmt.Errorf("no policy governs Lease %s: %s selects it, but its mode is Disabled", key, p.Ref)
		}
	}
	return fmt.Errorf("no policy governs Lease %s: %s", key, in.selections())
}

func (in *pickInput) nothingGoverned(namespace string) error {
	return fmt.Errorf("no governed Lease in %s: %s; name one that does not exist yet with --lease NAMESPACE/NAME", place(namespace), in.selections())
}

// selections says what the policies select.
func (in *pickInput) selections() string {
	var all []string
	for _, p := range in.objects.Policies() {
		what := strings.Join(p.Spec.Leases.Names, ", ")
		if p.Spec.Mode == v1alpha1.Disabled {
			what += " (Disabled)"
		}
		all = append(all, fmt.Sprintf("%s selects %s", p.Ref, what))
	}
	return strings.Join(all, "; ")
}

// place says where Leases were looked for.
func place(namespace string) string {
	if namespace == "" {
		return "any namespace"
	}
	return "namespace " + namespace
}
