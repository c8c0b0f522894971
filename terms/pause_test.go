package terms

import "testing"

func TestPausesAreBounded(t *testing.T) {
	for failures, want := range map[int]string{1: "5m0s", 2: "10m0s", 4: "40m0s", 5: "1h0m0s", 1 << 30: "1h0m0s"} {
		if got := pauseAfter(failures).String(); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
}
