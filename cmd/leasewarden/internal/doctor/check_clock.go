package doctor

import "time"

// skewTolerated is more than the resolution of the times that are compared.
const skewTolerated = 5 * time.Second

// checkClock compares this machine's clock with the API server's.
func checkClock(s *snapshot) []Finding {
	if s.skew.err != nil {
		return []Finding{unknown("", "the API server does not say what time it is: %v", s.skew.err)}
	}
	if s.skew.value.Abs() < skewTolerated {
		return ok("this machine's and the API server's agree")
	}
	than := "behind"
	if s.skew.value > 0 {
		than = "ahead of"
	}
	return []Finding{warning("synchronise the clocks: times that these commands print and --at are off by that much", "the API server's is %s %s this machine's", s.skew.value.Abs().Round(time.Second), than)}
}
