package picker_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forbidden are imports with which a plugin could reach out of its arguments.
var forbidden = []string{
	"net", "os", "io/fs", "log", "k8s.io/client-go", "k8s.io/klog", "sigs.k8s.io/controller-runtime",
	"math/rand", "crypto/rand", "google.golang.org/grpc",
}

// clock are the functions of package time that read or use a clock.
var clock = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true,
	"Tick": true, "NewTicker": true, "NewTimer": true,
}

// The picker is a pure function: no I/O, no clock, no goroutine.
func TestPickerIsPure(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		checked++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		checkPure(t, path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 20 {
		t.Errorf("checked %d files, want all of them", checked)
	}
}

func checkPure(t *testing.T, path string, file *ast.File) {
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		for _, f := range forbidden {
			if imported == f || strings.HasPrefix(imported, f+"/") {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine", path)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && clock[n.Sel.Name] {
				t.Errorf("%s calls time.%s", path, n.Sel.Name)
			}
		}
		return true
	})
}
