package belief

import (
	"reflect"
	"testing"
	"time"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// at is that many seconds after the start.
func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

func span(from, to float64) Span { return Span{at(from), at(to)} }

// says makes events of seconds and kinds.
func says(of ...any) []Event {
	var all []Event
	for i := 0; i < len(of); i += 2 {
		all = append(all, Event{at(float64(of[i].(int))), of[i+1].(Kind)})
	}
	return all
}

func TestBeliefs(t *testing.T) {
	paused := []Span{span(10, 30)}
	for name, test := range map[string]struct {
		life         Life
		leads, stale []Span
	}{
		"one that never led":          {life: Life{}},
		"one that leads":              {life: Life{Events: says(2, Leads)}, leads: []Span{span(2, 100)}},
		"one that led":                {life: Life{Events: says(2, Leads, 5, Renews, 9, Stops)}, leads: []Span{span(2, 9)}},
		"one that led twice":          {life: Life{Events: says(2, Leads, 9, Stops, 20, Leads)}, leads: []Span{span(2, 9), span(20, 100)}},
		"one that was killed":         {life: Life{Events: says(2, Leads), Ended: at(7)}, leads: []Span{span(2, 7)}},
		"one that said so, and ended": {life: Life{Events: says(2, Leads, 5, Stops), Ended: at(7)}, leads: []Span{span(2, 5)}},
		"a pause that it outlives": {
			life:  Life{Events: says(2, Leads, 32, Renews), Pauses: paused},
			leads: []Span{span(2, 10), span(32, 100)}, stale: []Span{span(30, 32)},
		},
		"a pause that costs it the Lease": {
			life:  Life{Events: says(2, Leads, 36, Stops), Pauses: paused},
			leads: []Span{span(2, 10)}, stale: []Span{span(30, 36)},
		},
		"a pause that its own records tell of": {
			life:  Life{Events: says(2, Leads, 9, Stops, 31, Leads), Pauses: paused},
			leads: []Span{span(2, 9), span(31, 100)},
		},
		"a pause in which it is killed": {
			life: Life{Events: says(2, Leads), Pauses: []Span{span(10, 30)}, Ended: at(20)}, leads: []Span{span(2, 10)},
		},
		"a pause that goes on":            {life: Life{Events: says(2, Leads), Pauses: []Span{{From: at(10)}}}, leads: []Span{span(2, 10)}},
		"a pause of one that follows":     {life: Life{Events: says(40, Leads), Pauses: paused}, leads: []Span{span(40, 100)}},
		"killed before it looks":          {life: Life{Events: says(2, Leads), Pauses: paused, Ended: at(33)}, leads: []Span{span(2, 10)}, stale: []Span{span(30, 33)}},
		"a second pause before it looks":  {life: Life{Events: says(2, Leads, 52, Renews), Pauses: []Span{span(10, 30), span(31, 50)}}, leads: []Span{span(2, 10), span(52, 100)}, stale: []Span{span(30, 31), span(50, 52)}},
		"a renewal that nobody waits for": {life: Life{Events: says(5, Renews)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.life.Beliefs(at(100))
			if !reflect.DeepEqual(got, Beliefs{Leads: test.leads, Stale: test.stale}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAble(t *testing.T) {
	for name, test := range map[string]struct {
		life Life
		want []Span
	}{
		"one that runs":         {Life{Started: at(1)}, []Span{span(1, 100)}},
		"one that has ended":    {Life{Started: at(1), Ended: at(9)}, []Span{span(1, 9)}},
		"one that was paused":   {Life{Started: at(1), Pauses: []Span{span(3, 5)}}, []Span{span(1, 3), span(5, 100)}},
		"one that is paused":    {Life{Started: at(1), Pauses: []Span{{From: at(3)}}}, []Span{span(1, 3)}},
		"killed in its pause":   {Life{Started: at(1), Pauses: []Span{span(3, 9)}, Ended: at(5)}, []Span{span(1, 3)}},
		"paused since it began": {Life{Started: at(1), Pauses: []Span{span(1, 9)}}, []Span{span(9, 100)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.life.Able(at(100)); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}
