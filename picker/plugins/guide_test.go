package plugins_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func rawJSON(s string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: json.RawMessage(s)} }

// The code that the guide shows is the code that is tested in example_test.go.
func TestGuideShowsTestedCode(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/adding-a-plugin.md")
	if err != nil {
		t.Fatal(err)
	}
	want := regions(string(example))
	got := codeBlocks(string(guide))
	if len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("the guide shows\n%s\nthe tested code is\n%s", strings.Join(got, "\n---\n"), strings.Join(want, "\n---\n"))
	}
}

var region = regexp.MustCompile(`(?s)// guide:\w+\n(.*?)// guide:end`)

// regions are the marked parts of a file, without their indentation.
func regions(source string) (found []string) {
	for _, match := range region.FindAllStringSubmatch(source, -1) {
		text := strings.TrimSpace(match[1])
		if !strings.Contains(text, "\n}") {
			text = strings.ReplaceAll(text, "\n\t", "\n")
		}
		found = append(found, text)
	}
	return found
}

var codeBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

func codeBlocks(page string) (found []string) {
	for _, match := range codeBlock.FindAllStringSubmatch(page, -1) {
		found = append(found, strings.TrimSpace(match[1]))
	}
	return found
}
