package doctor

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/manifests"
)

const applyDefinitions = `kubectl apply -k manifests/crds, or "helm upgrade", of the release that runs`

// shipped are the definitions of this release.
var shipped = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(manifests.CRDs, "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := manifests.CRDs.ReadFile(file)
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, definition)
	}
	return all, nil
})

// checkDefinitions looks at the CRDs: are they served, and are they those of this
// release?
func checkDefinitions(s *snapshot) []Finding {
	if s.served.err != nil && !apierrors.IsNotFound(s.served.err) {
		return unread("what the API server serves", s.served.err)
	}
	wanted, err := shipped()
	if err != nil {
		return []Finding{unknown("report this", "reading the CRDs of this release: %v", err)}
	}
	var missing []string
	for _, d := range wanted {
		if !slices.ContainsFunc(s.served.value.APIResources, func(r metav1.APIResource) bool { return r.Name == d.Spec.Names.Plural }) {
			missing = append(missing, d.Name)
		}
	}
	if len(missing) > 0 {
		return []Finding{problem(applyDefinitions, "not served as %s: %s", v1alpha1.GroupVersion, strings.Join(missing, ", "))}
	}
	if s.definitions.err != nil {
		return append(ok("all %d are served as %s", len(wanted), v1alpha1.GroupVersion), unread("the CRDs, to compare their schemas", s.definitions.err)...)
	}
	var findings []Finding
	for _, d := range wanted {
		findings = append(findings, compareDefinition(d, s.definitions.value.Items)...)
	}
	if len(findings) > 0 {
		return findings
	}
	return ok("all %d are served as %s, with the schemas of this release", len(wanted), v1alpha1.GroupVersion)
}

// compareDefinition says what is wrong with the installed one of the same name.
func compareDefinition(wanted *apiextensionsv1.CustomResourceDefinition, installed []apiextensionsv1.CustomResourceDefinition) []Finding {
	i := slices.IndexFunc(installed, func(d apiextensionsv1.CustomResourceDefinition) bool { return d.Name == wanted.Name })
	if i < 0 {
		return nil // served, so it has only just been deleted
	}
	found := &installed[i]
	if found.DeletionTimestamp != nil {
		return []Finding{problem("find out which finalizer holds it, then "+applyDefinitions, "%s is being deleted", found.Name)}
	}
	for _, v := range wanted.Spec.Versions {
		j := slices.IndexFunc(found.Spec.Versions, func(o apiextensionsv1.CustomResourceDefinitionVersion) bool { return o.Name == v.Name })
		if j < 0 || !apiequality.Semantic.DeepEqual(v.Schema, found.Spec.Versions[j].Schema) {
			return []Finding{warning(applyDefinitions, "the schema of %s is not that of this release: fields may be lost or refused", found.Name)}
		}
	}
	return nil
}
