package terms

import "time"

// firstPause and lastPause bound how long something is not tried again that has
// failed: a pin, a replacement that did not take its Lease, or a policy whose
// candidates make way for each other.
const (
	firstPause = 5 * time.Minute
	lastPause  = time.Hour
)

// pauseAfter is how long that is after so many failures in a row: it doubles with
// each one. It takes one failure at least.
func pauseAfter(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < lastPause; failures-- {
		pause *= 2
	}
	return min(pause, lastPause)
}
