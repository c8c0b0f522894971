package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuickRun measures a little on a real control plane: every figure comes out,
// and no renewal calls a webhook. How fast anything is depends on the machine, and
// is not asserted.
func TestQuickRun(t *testing.T) {
	module, repository = "..", filepath.Join("..", "..", "..")
	dir := t.TempDir()
	o := &options{
		rounds: 1, rows: "1,3", quick: true, out: t.Output(),
		markdown: filepath.Join(dir, "tables.md"), json: filepath.Join(dir, "figures.json"), plot: filepath.Join(dir, "curves.svg"),
	}
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(read(t, o.json), &r); err != nil {
		t.Fatal(err)
	}
	figures := map[string]int{}
	for _, f := range r.Figures {
		figures[f.Row]++
		switch {
		case f.Target.None:
			if f.Result.High != 0 {
				t.Errorf("%s: %v, and not 0", f.Name, f.Result.High)
			}
		case f.Result == nil || f.Result.Low <= 0:
			t.Errorf("%s has no figure: %+v", f.Name, f.Result)
		}
	}
	for row, want := range map[string]int{"1": 6, "3": 8} {
		if figures[row] != want {
			t.Errorf("row %s has %d figures, want %d", row, figures[row], want)
		}
	}
	if n := strings.Count(string(read(t, o.markdown)), "\n| "); n != len(r.Figures)+1 {
		t.Errorf("the Markdown table has %d lines for %d figures", n, len(r.Figures))
	}
	wellFormed(t, string(read(t, o.plot)))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
}

func TestRowsThatThereAreNot(t *testing.T) {
	for _, o := range []options{{rounds: 1, rows: "1,12"}, {rounds: 1, rows: "x"}, {rounds: 0}} {
		if err := run(t.Context(), &o); err == nil || !strings.Contains(err.Error(), "--r") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	o := options{rounds: 1, rows: "5"}
	if chosen, err := o.chosen(); err != nil || len(chosen) != 2 {
		t.Errorf("row 5 is measured in two parts, got %d: %v", len(chosen), err)
	}
}
