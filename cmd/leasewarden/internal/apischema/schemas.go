package apischema

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/manifests"
)

// kindSchema is the compiled schema of one kind.
type kindSchema struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// load compiles the installed definitions, once.
var load = sync.OnceValues(func() (map[schema.GroupVersionKind]*kindSchema, error) {
	schemas := map[schema.GroupVersionKind]*kindSchema{}
	files, err := fs.Glob(manifests.CRDs, "crds/leasewarden.dev_*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := loadFile(schemas, file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return schemas, nil
})

func loadFile(schemas map[schema.GroupVersionKind]*kindSchema, file string) error {
	data, err := manifests.CRDs.ReadFile(file)
	if err != nil {
		return err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(data, &definition); err != nil {
		return err
	}
	for i := range definition.Spec.Versions {
		version := &definition.Spec.Versions[i]
		compiled, err := compile(version.Schema)
		if err != nil {
			return fmt.Errorf("version %s: %w", version.Name, err)
		}
		kind := schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.Kind}
		schemas[kind] = compiled
	}
	return nil
}

func compile(published *apiextensionsv1.CustomResourceValidation) (*kindSchema, error) {
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(published, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	values, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &kindSchema{
		structural: structural,
		values:     values,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

func knownKinds(schemas map[schema.GroupVersionKind]*kindSchema) string {
	var names []string
	for kind := range maps.Keys(schemas) {
		names = append(names, display(kind))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// display is a kind as a manifest spells it.
func display(kind schema.GroupVersionKind) string {
	return kind.GroupVersion().String() + " " + kind.Kind
}
