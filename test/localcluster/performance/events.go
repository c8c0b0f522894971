package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// benchmark is a benchmark of the repository that has the number of Leases in the
// names of its cases.
type benchmark struct {
	name, title, pkg, pattern string
	// result has the number of Leases and the time in ns.
	result *regexp.Regexp
}

var benchmarks = []benchmark{
	{"BenchmarkEvent", "a Pod's event, in the cache", "./candidates", "^BenchmarkEvent$/^change$",
		regexp.MustCompile(`(?m)^BenchmarkEvent/change/(\d+)_leases\S*\s+\d+\s+([\d.]+) ns/op`)},
	{"BenchmarkPodEvent", "a Pod's event, published", "./terms", "^BenchmarkPodEvent$",
		regexp.MustCompile(`(?m)^BenchmarkPodEvent/leases=(\d+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`)},
}

// measureEvents runs the benchmarks of what one event costs, by the number of
// governed Leases.
func measureEvents(ctx context.Context, b *bench) error {
	for _, m := range benchmarks {
		b.say("go test -bench %s %s", m.name, m.pkg)
		command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", m.pattern, "-benchtime", b.events, "-count", strconv.Itoa(b.rounds), m.pkg)
		command.Dir = repository
		var errors bytes.Buffer
		command.Stderr = &errors
		output, err := command.Output()
		if err != nil {
			return fmt.Errorf("%s: %w: %s%s", m.name, err, output, errors.Bytes())
		}
		if err := b.reportEvents(&m, output); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) reportEvents(m *benchmark, output []byte) error {
	var sizes []int
	microseconds := map[int][]float64{}
	for _, match := range m.result.FindAllSubmatch(output, -1) {
		leases, _ := strconv.Atoi(string(match[1]))
		ns, _ := strconv.ParseFloat(string(match[2]), 64)
		if microseconds[leases] == nil {
			sizes = append(sizes, leases)
		}
		microseconds[leases] = append(microseconds[leases], ns/1000)
	}
	if len(sizes) < 2 {
		return fmt.Errorf("%s has no results for two numbers of Leases: %s", m.name, output)
	}
	least := microseconds[sizes[0]]
	c := &curve{Title: "Cost of " + m.title, X: "governed Leases", Y: "µs", Logarithmic: true}
	for i, n := range sizes {
		name := fmt.Sprintf("%s, %d Leases", m.title, n)
		if i == 0 {
			b.report.add("8", name, "µs", target{}, least...)
		} else {
			b.report.addBeside("8", name, "µs", target{}, microseconds[n], fmt.Sprintf("%d Leases", sizes[0]), least)
		}
		c.Points = append(c.Points, point{float64(n), newResult(microseconds[n]).Median})
	}
	b.report.Curves = append(b.report.Curves, c)
	return nil
}
