package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestResult(t *testing.T) {
	for _, test := range []struct {
		values        []float64
		median, worst float64
	}{
		{[]float64{3}, 3, 3},
		{[]float64{5, 1}, 3, 5},
		{[]float64{9, 1, 2}, 2, 9},
	} {
		if r := newResult(test.values); r.Median != test.median || r.Worst != test.worst {
			t.Errorf("of %v: median %v, worst %v", test.values, r.Median, r.Worst)
		}
	}
}

func TestMissed(t *testing.T) {
	for name, test := range map[string]struct {
		target target
		values []float64
		want   string
	}{
		"both kept":      {target{median: 3, worst: 5}, []float64{1, 3, 5}, ""},
		"both missed":    {target{median: 3, worst: 5}, []float64{4, 6}, "median 2.0 above it, worst 1.0 above it"},
		"only a median":  {target{median: 3}, []float64{2, 60, 2}, ""},
		"only the worst": {target{worst: 13}, []float64{12, 13.5}, "worst 0.5 above it"},
		"exactly":        {target{worst: 1, exactly: true}, []float64{1, 1}, ""},
		"not exactly":    {target{worst: 1, exactly: true}, []float64{1, 0, 2}, "2 of 3 are not 1"},
		"no target":      {target{}, []float64{100}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.target.missed(newResult(test.values)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Every line of the table fits 80 columns, with figures of the usual size.
func TestTableFitsTheScreen(t *testing.T) {
	r := newReport(10)
	for _, s := range scenarios {
		m := &measurement{scenario: s, values: map[*contender][][]float64{}, stalled: map[*contender]int{contenders[1]: 2}}
		for _, c := range s.contenders() {
			m.values[c] = [][]float64{make([]float64, len(s.figures)), make([]float64, len(s.figures))}
			for i := range s.figures {
				m.values[c][1][i] = 16.25
			}
		}
		r.add(m)
	}
	var text strings.Builder
	r.table(&text)
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(text.String(), "No end after 3m0s: upgrade, CLE: 2 of 10 rounds") {
		t.Error(text.String())
	}
	if !strings.Contains(text.String(), "8.1 / 16.2") || !strings.Contains(text.String(), "Missed: switchover, Evict: median 5.1") {
		t.Error(text.String())
	}
}
