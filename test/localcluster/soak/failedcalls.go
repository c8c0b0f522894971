package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

// failure is a call that nobody has answered, and when it began or was told of.
type failure struct {
	at   time.Time
	text string
}

// timedOut reports whether it took too long. A webhook has 1 s, which a machine
// that is busy with other things can exceed: such calls are counted and told of,
// and are no violation by themselves.
func (f failure) timedOut() bool {
	return strings.Contains(f.text, "deadline exceeded") || strings.Contains(f.text, "imeout")
}

// split tells failures apart.
func split(all []failure) (timedOut, others []failure) {
	for _, f := range all {
		if f.timedOut() {
			timedOut = append(timedOut, f)
		} else {
			others = append(others, f)
		}
	}
	return timedOut, others
}

// failedCalls are those of Leasewarden's webhooks in a span that the API server
// tells of in its log: its counters say how many, and not why.
func (s *site) failedCalls(in belief.Span) ([]failure, error) {
	content, err := os.ReadFile(s.cluster.ProcessLog(localcluster.APIServer))
	if err != nil {
		return nil, err
	}
	all := readFailedCalls(string(content), in.From.Year())
	return slices.DeleteFunc(all, func(f failure) bool { return f.at.Before(in.From) || !f.at.Before(in.To) }), nil
}

// readFailedCalls reads them from the log.
func readFailedCalls(log string, year int) []failure {
	const layout = "0102 15:04:05.000000"
	var all []failure
	for line := range strings.Lines(log) {
		_, text, ok := strings.Cut(line, "Failed calling webhook, failing ")
		if !ok || !strings.Contains(text, "leasewarden.dev") || len(line) < 1+len(layout) {
			continue
		}
		// The API server is no container: its time is ours.
		if at, err := time.ParseInLocation(layout, line[1:1+len(layout)], time.Local); err == nil {
			all = append(all, failure{at.AddDate(year, 0, 0), strings.TrimSpace(text)})
		}
	}
	return all
}
