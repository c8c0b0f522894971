package belief

import (
	"reflect"
	"testing"
	"time"
)

// leader is an elector that says that it leads from one second to another; with
// none, it does not say when it stops.
func leader(name string, ended float64, of ...any) *Life {
	l := &Life{Name: name, Started: start, Events: says(of...)}
	if ended > 0 {
		l.Ended = at(ended)
	}
	return l
}

func TestTwos(t *testing.T) {
	pausedA := leader("a", 0, 2, Leads, 36, Stops)
	pausedA.Pauses = []Span{span(10, 30)}
	renewedA := leader("a", 0, 2, Leads, 31, Renews)
	renewedA.Pauses = []Span{span(10, 30)}
	for name, test := range map[string]struct {
		lives []*Life
		want  []Two
	}{
		"one after the other":                  {[]*Life{leader("a", 0, 2, Leads, 9, Stops), leader("b", 0, 9, Leads)}, nil},
		"one that stops too late":              {[]*Life{leader("a", 0, 2, Leads, 9, Stops), leader("b", 0, 7, Leads)}, []Two{{span(7, 9), "a", "b"}}},
		"one within the other":                 {[]*Life{leader("a", 0, 2, Leads), leader("b", 0, 7, Leads, 8, Stops)}, []Two{{span(7, 8), "a", "b"}}},
		"one that was killed in time":          {[]*Life{leader("a", 7, 2, Leads), leader("b", 0, 8, Leads)}, nil},
		"one whose end is known late":          {[]*Life{leader("a", 7.2, 2, Leads), leader("b", 0, 7, Leads)}, nil},
		"one that was killed too late":         {[]*Life{leader("a", 9, 2, Leads), leader("b", 0, 7, Leads)}, []Two{{span(7, 8.75), "a", "b"}}},
		"stale after a pause":                  {[]*Life{pausedA, leader("b", 0, 25, Leads)}, nil},
		"one that renews though another leads": {[]*Life{renewedA, leader("b", 0, 25, Leads)}, []Two{{span(31, 100), "b", "a"}}},
		"two that never said that they stop":   {[]*Life{leader("a", 0, 2, Leads), leader("b", 0, 4, Leads)}, []Two{{span(4, 100), "a", "b"}}},
		"the same process, twice":              {[]*Life{leader("a", 0, 2, Leads, 9, Stops, 9, Leads)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Judge(test.lives, at(100)).Twos(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestVacancies(t *testing.T) {
	all := span(0, 100)
	a, b := leader("a", 10, 2, Leads), leader("b", 0, 25, Leads)
	pausedB := leader("b", 0, 25, Leads)
	pausedB.Pauses = []Span{span(12, 22)}
	for name, test := range map[string]struct {
		lives   []*Life
		in      Span
		outages []Span
		next    string
		waited  []float64
	}{
		"nobody ever led":                    {[]*Life{leader("a", 0)}, all, nil, "", nil},
		"somebody always leads":              {[]*Life{leader("a", 0, 2, Leads)}, all, nil, "", nil},
		"one after the other":                {[]*Life{a, b}, all, nil, "b", []float64{15}},
		"nobody leads after":                 {[]*Life{a, leader("b", 0)}, all, nil, "", []float64{90}},
		"it begins before what is looked at": {[]*Life{a, b}, span(11, 100), nil, "", nil},
		"it begins after that":               {[]*Life{a, b}, span(0, 10), nil, "", nil},
		"an outage before":                   {[]*Life{a, b}, all, []Span{span(3, 9)}, "b", []float64{15}},
		"an outage around its beginning":     {[]*Life{a, b}, all, []Span{span(8, 13)}, "b", []float64{12}},
		"an outage in its middle":            {[]*Life{a, b}, all, []Span{span(12, 20)}, "b", []float64{5}},
		"an outage at its end":               {[]*Life{a, b}, all, []Span{span(12, 30)}, "b", []float64{0}},
		"while nobody could elect":           {[]*Life{a, pausedB}, all, nil, "b", []float64{5}},
		"a handover":                         {[]*Life{leader("a", 0, 2, Leads, 9, Stops), leader("b", 0, 9, Leads)}, all, nil, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var waited []float64
			for _, v := range Judge(test.lives, at(100)).Vacancies(test.in, test.outages) {
				waited = append(waited, v.Waited.Seconds())
				if v.Next != test.next {
					t.Errorf("%q leads next, want %q", v.Next, test.next)
				}
			}
			if !reflect.DeepEqual(waited, test.waited) {
				t.Errorf("got %v", waited)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	l := Judge([]*Life{leader("a", 0, 2, Leads, 5, Stops, 6, Leads, 8, Stops, 20, Leads, 21, Stops), leader("b", 0, 10, Leads, 12, Stops)}, at(100))
	for _, test := range []struct {
		in   Span
		want int
	}{{span(0, 100), 2}, {span(0, 10), 0}, {span(10, 20), 1}, {span(20, 100), 1}} {
		if got := l.Changes(test.in); got != test.want {
			t.Errorf("in %v: got %d, want %d", test.in, got, test.want)
		}
	}
}

func TestLeader(t *testing.T) {
	for name, test := range map[string]struct {
		life *Life
		want bool
	}{
		"leads":      {leader("a", 0, 2, Leads), true},
		"stopped":    {leader("a", 0, 2, Leads, 9, Stops), false},
		"ended":      {leader("a", 100, 2, Leads), false},
		"never led":  {leader("a", 0), false},
		"is paused":  {&Life{Events: says(2, Leads), Pauses: []Span{{From: at(9)}}}, false},
		"leads anew": {leader("a", 0, 2, Leads, 9, Stops, 10, Leads), true},
	} {
		if got := Judge([]*Life{test.life}, at(100)).Leader() != nil; got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestSpans(t *testing.T) {
	if got := Union([]Span{span(5, 7), span(1, 3), span(3, 4), span(6, 9)}); !reflect.DeepEqual(got, []Span{span(1, 4), span(5, 9)}) {
		t.Errorf("got %v", got)
	}
	if got := Total(Within([]Span{span(1, 4), span(5, 9)}, span(3, 6))); got != 2*time.Second {
		t.Errorf("got %v", got)
	}
}
