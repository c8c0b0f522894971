package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTailReadsWholeLinesOnce(t *testing.T) {
	log := &tail{path: filepath.Join(t.TempDir(), "0.log")}
	if lines, err := log.lines(); err != nil || len(lines) != 0 {
		t.Fatalf("of a log that is not there yet: %q, %v", lines, err)
	}
	file, err := os.Create(log.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var got bytes.Buffer
	for _, text := range []string{"one\ntw", "o\n", "", "three"} {
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		lines, err := log.lines()
		if err != nil {
			t.Fatal(err)
		}
		got.Write(bytes.Join(lines, []byte("|")))
	}
	if got.String() != "one\n|two\n|" {
		t.Errorf("got %q", got.String())
	}
	if log.changed.IsZero() {
		t.Error("it is not known when the log was written")
	}
}

func TestSightingIsKnownByItsLog(t *testing.T) {
	r := newSighting("/x/nodes/node-1/logs/soak_keeps-1-37-2-6d65-n7hs9_8ca189d0/elector/2.log")
	if r == nil || r.contest.name != "keeps" || r.pod != "keeps-1-37-2-6d65-n7hs9" || r.Name != "keeps-1-37-2-6d65-n7hs9#2" {
		t.Errorf("got %v", r)
	}
	for _, path := range []string{"/x/logs/soak_other-1_8ca189d0/elector/0.log", "/x/logs/strange/elector/0.log"} {
		if r := newSighting(path); r != nil {
			t.Errorf("%s is taken for a log of %s", path, r.Name)
		}
	}
}

func TestCountersThatGrow(t *testing.T) {
	got := more(map[string]float64{"a": 1, "b": 2}, map[string]float64{"a": 1, "b": 5, "c": 1})
	if len(got) != 2 || got[0] != "b: 3" || got[1] != "c: 1" {
		t.Errorf("got %q", got)
	}
}
