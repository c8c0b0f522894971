package terms

import (
	"testing"
	"time"
)

func TestTrial(t *testing.T) {
	var tr trial
	now := time.Unix(0, 0)
	check := func(what, candidate string, want time.Duration) {
		t.Helper()
		if got := tr.pause(candidate); got != want {
			t.Errorf("%s: %s pauses for %v, want %v", what, candidate, got, want)
		}
	}
	fail := func() {
		tr.begin("a_1", "b", now)
		now = now.Add(fairTrial)
		tr.look("a_1", "a", "b", now)
		tr.look("", "", "b", now)
		tr.look("c_1", "c", "b", now)
	}
	check("nothing was tried", "b", 0)
	tr.look("c_1", "c", "c", now)
	check("somebody acquired", "b", 0)
	fail()
	check("another one acquired", "b", 5*time.Minute)
	check("another one acquired", "c", 0)
	tr.look("d_1", "d", "d", now)
	check("and one more, which is no failure", "b", 5*time.Minute)
	fail()
	check("it failed again", "b", 10*time.Minute)
	for range 10 {
		fail()
	}
	check("it fails all the time", "b", time.Hour)
	tr.begin("c_1", "b", now)
	tr.look("d_1", "d", "d", now)
	check("the choice was another one meanwhile", "b", time.Hour)
	tr.begin("c_1", "b", now)
	tr.end()
	tr.look("d_1", "d", "d", now)
	check("an order that was taken back", "b", time.Hour)
	tr.begin("c_1", "b", now)
	tr.look("b_1", "b", "b", now)
	check("it leads", "b", 0)
	tr.begin("a_1", "b", now)
	now = now.Add(fairTrial)
	tr.look("a_2", "a", "b", now)
	check("the former holder came back first", "b", 5*time.Minute)
	tr.begin("a_2", "b", now)
	tr.choose("a_2", "e", now)
	now = now.Add(fairTrial)
	tr.choose("a_2", "e", now)
	tr.choose("", "f", now)
	tr.look("stranger", "", "e", now)
	check("another candidate failed", "b", 0)
	check("another candidate failed", "e", 5*time.Minute)
	tr.begin("a_3", "b", now)
	now = now.Add(fairTrial)
	tr.choose("a_3", "f", now)
	tr.look("b_1", "b", "f", now)
	check("it was chosen just before another acquired", "f", 0)
}
