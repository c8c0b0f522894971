package elector

import (
	"bytes"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestReadRecords(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)
	want := []Record{{Identity: "a_1", Leads: true, At: at}, {Identity: "a_1", At: at.Add(time.Second)}}
	log := bytes.NewBufferString("I0101 starting\n")
	for _, r := range want {
		g.Expect(r.Write(log)).To(Succeed())
		log.WriteString("{not a record\n")
	}
	log.WriteString(`{"identity":"a_1","leads":tr`)
	g.Expect(ReadRecords(log)).To(Equal(want))
}

func TestOverlaps(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	begins := func(identity string, second int) Record {
		return Record{Identity: identity, Leads: true, At: start.Add(time.Duration(second) * time.Second)}
	}
	ends := func(identity string, second int) Record {
		return Record{Identity: identity, At: start.Add(time.Duration(second) * time.Second)}
	}
	for name, test := range map[string]struct {
		records []Record
		want    int
	}{
		"one after the other":      {[]Record{begins("a", 1), ends("a", 2), begins("b", 3), ends("b", 4), begins("a", 5)}, 0},
		"one that was killed":      {[]Record{begins("a", 1), begins("b", 3), ends("b", 4)}, 0},
		"one that stops too late":  {[]Record{begins("a", 1), begins("b", 3), ends("a", 4)}, 1},
		"one within the other":     {[]Record{ends("b", 4), begins("a", 1), ends("a", 5), begins("b", 3)}, 1},
		"one that stood still":     {[]Record{begins("a", 1), ends("a", 2), begins("b", 3), begins("a", 9)}, 0},
		"one that leads once more": {[]Record{begins("a", 1), ends("a", 2), begins("b", 3), ends("b", 4), begins("a", 5), ends("a", 6)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			Sort(test.records)
			if got := Overlaps(test.records); len(got) != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTerms(t *testing.T) {
	g := NewWithT(t)
	record := func(identity string, leads bool) Record { return Record{Identity: identity, Leads: leads} }
	a, b := record("a", true), record("b", true)
	g.Expect(Terms([]Record{a, record("a", false), a, b, record("b", false), a})).To(Equal([]Record{a, b, a}))
}
