package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// field is a row of a table.
type field struct{ path, kind, text string }

// fields are those of an object, and of what is in them. Those that base has, too,
// are left out.
func (r *renderer) fields(path string, object, base *apiextensionsv1.JSONSchemaProps) []field {
	var all []field
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		schema := object.Properties[name]
		var theirs *apiextensionsv1.JSONSchemaProps
		if base != nil {
			if b, ok := base.Properties[name]; ok {
				theirs = &b
			}
		}
		if theirs != nil && same(&schema, theirs) {
			continue
		}
		at := path + "." + name
		if theirs == nil {
			all = append(all, field{at, kindOf(&schema), r.text(&schema, slices.Contains(object.Required, name))})
		}
		if inner, suffix := inside(&schema); inner != nil {
			all = append(all, r.fields(at+suffix, inner, theirs)...)
		}
	}
	return all
}

func same(a, b *apiextensionsv1.JSONSchemaProps) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// inside is the object that has more fields, nil if there is none, or if it is one
// of Kubernetes' own.
func inside(s *apiextensionsv1.JSONSchemaProps) (object *apiextensionsv1.JSONSchemaProps, suffix string) {
	switch {
	case known(s) != "":
		return nil, ""
	case len(s.Properties) > 0:
		return s, ""
	case s.Items != nil && s.Items.Schema != nil && len(s.Items.Schema.Properties) > 0 && known(s.Items.Schema) == "":
		return s.Items.Schema, "[]"
	}
	return nil, ""
}

// known is the name of a type of Kubernetes' own, "" if it is none.
func known(s *apiextensionsv1.JSONSchemaProps) string {
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := s.Properties[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("matchLabels", "matchExpressions"):
		return "LabelSelector"
	case has("lastTransitionTime", "status", "type"):
		return "Condition"
	}
	return ""
}

func kindOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case known(s) != "":
		return known(s)
	case s.Type == "array" && s.Items != nil && s.Items.Schema != nil:
		return "list of " + kindOf(s.Items.Schema)
	case s.Type == "" && s.XPreserveUnknownFields != nil:
		return "any"
	case s.Type == "":
		return "any"
	case s.Type == "string" && s.Format == "date-time":
		return "time"
	}
	return s.Type
}

// text is the description with everything that is checked.
func (r *renderer) text(s *apiextensionsv1.JSONSchemaProps, required bool) string {
	parts := []string{escape(strings.Join(strings.Fields(s.Description), " "))}
	if required {
		parts = append(parts, "**Required.**")
	}
	if s.Default != nil && string(s.Default.Raw) != "{}" {
		parts = append(parts, "Default: `"+string(s.Default.Raw)+"`.")
	}
	parts = append(parts, limits(s)...)
	if s.Items != nil && s.Items.Schema != nil {
		for _, l := range limits(s.Items.Schema) {
			parts = append(parts, "Each: "+l)
		}
	}
	parts = append(parts, r.choices(s)...)
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// limits are what the schema checks.
func limits(s *apiextensionsv1.JSONSchemaProps) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	bounds := func(least, most *int64, what string) {
		switch {
		case least != nil && most != nil:
			add("%d to %d %s.", *least, *most, what)
		case least != nil && *least == 1:
			add("Not empty.")
		case least != nil:
			add("At least %d %s.", *least, what)
		case most != nil:
			add("At most %d %s.", *most, what)
		}
	}
	bounds(s.MinLength, s.MaxLength, "characters")
	bounds(s.MinItems, s.MaxItems, "entries")
	if s.Minimum != nil {
		add("At least %g.", *s.Minimum)
	}
	if s.Maximum != nil {
		add("At most %g.", *s.Maximum)
	}
	if s.Pattern != "" {
		add("Matches `%s`.", strings.ReplaceAll(s.Pattern, "|", `\|`))
	}
	for _, rule := range s.XValidations {
		add("Rule: %s.", escape(strings.TrimSuffix(rule.Message, ".")))
	}
	return all
}

// choices are the values of an enumeration.
func (r *renderer) choices(s *apiextensionsv1.JSONSchemaProps) []string {
	wanted := enumOf(s)
	if len(wanted) == 0 {
		return nil
	}
	values := documented(r.values, wanted)
	if values == nil {
		return []string{"One of `" + strings.Join(wanted, "`, `") + "`."}
	}
	text := "One of:"
	for _, v := range values {
		text += "<br>`" + v.text + "` " + escape(v.doc)
	}
	return []string{text}
}

// enumOf are the values that are allowed: those of each part, if there are several.
func enumOf(s *apiextensionsv1.JSONSchemaProps) []string {
	var all []string
	for _, e := range s.Enum {
		var text string
		if json.Unmarshal(e.Raw, &text) == nil {
			all = append(all, text)
		}
	}
	for i := range s.AllOf {
		part := enumOf(&s.AllOf[i])
		if all == nil {
			all = part
		}
		all = slices.DeleteFunc(all, func(v string) bool { return !slices.Contains(part, v) })
	}
	return all
}

// escape keeps a text from being taken for Markdown or HTML in a table.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)
}
