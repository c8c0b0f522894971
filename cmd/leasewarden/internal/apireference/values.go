package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// value is a constant of an enumeration.
type value struct{ text, doc string }

// enumerations are the typed string constants of a Go package, by type.
func enumerations(dir string) (map[string][]value, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_types.go"))
	if err != nil {
		return nil, err
	}
	all, names := map[string][]value{}, map[string]string{}
	for _, name := range append(files, filepath.Join(dir, "election_spec.go")) {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				addConstants(all, names, g)
			}
		}
	}
	for _, values := range all {
		for i := range values {
			values[i].doc = spelled(names, values[i].doc)
		}
	}
	return all, nil
}

// spelled has a comment name a constant by its value, which is what people write.
func spelled(names map[string]string, doc string) string {
	words := strings.Split(doc, " ")
	for i, w := range words {
		word := strings.TrimRight(w, ",.:;")
		if text, ok := names[word]; ok {
			words[i] = text + w[len(word):]
		}
	}
	return strings.Join(words, " ")
}

func addConstants(all map[string][]value, names map[string]string, g *ast.GenDecl) {
	for _, s := range g.Specs {
		spec := s.(*ast.ValueSpec)
		kind, ok := spec.Type.(*ast.Ident)
		if !ok || len(spec.Values) != 1 {
			continue
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			continue
		}
		doc := strings.Join(strings.Fields(spec.Doc.Text()), " ")
		names[spec.Names[0].Name] = text
		all[kind.Name] = append(all[kind.Name], value{text, strings.TrimPrefix(doc, spec.Names[0].Name+" ")})
	}
}

// documented are the values with what the Go comments say of them, nil if they
// are of no type that has constants.
func documented(all map[string][]value, wanted []string) []value {
	for _, values := range all {
		var found []value
		for _, v := range values {
			if slices.Contains(wanted, v.text) {
				found = append(found, v)
			}
		}
		if len(found) == len(wanted) {
			return found
		}
	}
	return nil
}
