package main

import (
	"reflect"
	"testing"
)

func TestScheduleDependsOnTheSeedAlone(t *testing.T) {
	draw := func(seed uint64) []act {
		s := newSchedule(seed, faults)
		var all []act
		for range 3 * len(faults) {
			all = append(all, *s.next())
		}
		return all
	}
	if !reflect.DeepEqual(draw(1), draw(1)) {
		t.Error("one seed gives two schedules")
	}
	if reflect.DeepEqual(draw(1), draw(2)) {
		t.Error("two seeds give one schedule")
	}
}

func TestEveryFaultComesBeforeOneComesAgain(t *testing.T) {
	s := newSchedule(7, faults)
	for range 3 {
		times := map[*fault]int{}
		for range faults {
			a := s.next()
			times[a.fault]++
			if a.hold < a.fault.hold[0] || a.hold > a.fault.hold[1] || a.meanwhile > a.hold {
				t.Errorf("%s: held for %s, a leader is killed after %s", a.fault.name, a.hold, a.meanwhile)
			}
		}
		if len(times) != len(faults) {
			t.Errorf("%d of %d faults", len(times), len(faults))
		}
	}
}

func TestChosenFaults(t *testing.T) {
	for texts, want := range map[string]int{"": len(faults), "etcd": 3, "etcd, leader killed": 4, "no such": 0} {
		if got := chosen(texts); len(got) != want {
			t.Errorf("%q: %v", texts, names(got))
		}
	}
}
