package apischema

import (
	"context"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Admit fills in the defaults of object, which must be of the given kind, and
// returns everything for which the API server would refuse it. The error says
// that the kind is not one of ours.
func Admit(kind schema.GroupVersionKind, object map[string]any) (field.ErrorList, error) {
	s, err := lookup(kind)
	if err != nil {
		return nil, err
	}
	if problems := s.unknownFields(object); len(problems) > 0 {
		// A misspelt field is also a missing one: saying both only confuses.
		return problems, nil
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	defaulting.Default(object, s.structural)
	return s.validate(object), nil
}

// unknownFields finds, and removes, what the schema does not know.
func (s *kindSchema) unknownFields(object map[string]any) field.ErrorList {
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown := pruning.PruneWithOptions(object, s.structural, true, options)
	malformed, inMetadata := objectmeta.CoerceWithOptions(nil, object, s.structural, true, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	var problems field.ErrorList
	for _, path := range append(unknown, inMetadata...) {
		problems = append(problems, &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: "unknown field"})
	}
	if malformed != nil {
		problems = append(problems, malformed)
	}
	return problems
}

func (s *kindSchema) validate(object map[string]any) field.ErrorList {
	problems := validation.ValidateCustomResource(nil, object, s.values)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	if len(problems) > 0 {
		// The rules assume the types that the schema promises.
		return problems
	}
	problems, _ = s.rules.Validate(context.Background(), nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return problems
}

func lookup(kind schema.GroupVersionKind) (*kindSchema, error) {
	schemas, err := load()
	if err != nil {
		return nil, err
	}
	s, ok := schemas[kind]
	if !ok {
		return nil, fmt.Errorf("%s is not known, known are %s", display(kind), knownKinds(schemas))
	}
	return s, nil
}
