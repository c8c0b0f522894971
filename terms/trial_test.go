package terms

import (
	"testing"
	"time"
)

func TestTrial(t *testing.T) {
	var tr trial
	check := func(what, candidate string, want time.Duration) {
		t.Helper()
		if got := tr.pause(candidate); got != want {
			t.Errorf("%s: %s pauses for %v, want %v", what, candidate, got, want)
		}
	}
	fail := func() { tr.begin("a_1", "b"); tr.look("a_1", "a"); tr.look("", ""); tr.look("c_1", "c") }
	check("nothing was tried", "b", 0)
	tr.look("c_1", "c")
	check("somebody acquired", "b", 0)
	fail()
	check("another one acquired", "b", 5*time.Minute)
	check("another one acquired", "c", 0)
	tr.look("d_1", "d")
	check("and one more, which is no failure", "b", 5*time.Minute)
	fail()
	check("it failed again", "b", 10*time.Minute)
	for range 10 {
		fail()
	}
	check("it fails all the time", "b", time.Hour)
	tr.begin("c_1", "b")
	tr.end()
	tr.look("d_1", "d")
	check("an order that was taken back", "b", time.Hour)
	tr.begin("c_1", "b")
	tr.look("b_1", "b")
	check("it leads", "b", 0)
	tr.begin("a_1", "b")
	tr.look("a_2", "a")
	check("the former holder came back first", "b", 5*time.Minute)
	tr.begin("a_2", "b")
	tr.choose("a_2", "e")
	tr.choose("", "f")
	tr.look("stranger", "")
	check("another candidate failed", "b", 0)
	check("another candidate failed", "e", 5*time.Minute)
}
