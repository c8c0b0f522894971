package report

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/picker"
)

func TestJSONIsAStream(t *testing.T) {
	var b strings.Builder
	if err := JSON(&b, []Election{election(func(*Election) {}), election(func(e *Election) { e.Chosen = nil })}); err != nil {
		t.Fatal(err)
	}
	var chosen []any
	for d := json.NewDecoder(strings.NewReader(b.String())); ; {
		var object map[string]any
		err := d.Decode(&object)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		chosen = append(chosen, object["chosen"])
	}
	if diff := cmp.Diff([]any{"a", nil}, chosen); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
}

func TestScoresKeepTheirOrderAndPrecision(t *testing.T) {
	got, err := json.Marshal(Scores{
		{"Z", picker.Integer(9007199254740993)},
		{"A", picker.Value{}},
		{`"<`, picker.Float(0.5)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Z":"9007199254740993","A":null,"\"\u003c":"0.5"}`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestYAMLHasOneDocumentPerLease(t *testing.T) {
	var b strings.Builder
	if err := YAML(&b, []Election{election(func(*Election) {}), election(func(*Election) {})}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n---\n"); got != 1 {
		t.Errorf("%d separators in\n%s", got, b.String())
	}
}
