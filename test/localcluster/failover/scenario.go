package main

import (
	"context"
	"math"
	"strings"
)

// scenario is something that happens to a leader.
type scenario struct {
	// name is what --only looks for.
	name, title string
	// governedOnly is for what only Leasewarden can do.
	governedOnly bool
	// prepare starts what is needed in a new lane.
	prepare func(ctx context.Context, l *lane) error
	// round plays it once and returns a value for each of the figures.
	round   func(ctx context.Context, l *lane) ([]float64, error)
	figures []figure
}

// figure is a line of the table.
type figure struct {
	name, unit string
	// target is what Leasewarden is to reach. Empty: nothing in particular.
	target target
}

// none is the value of what did not happen.
var none = math.NaN()

// Units of figures.
const (
	seconds = "s"
	changes = "leader changes"
	skews   = "elections of a newer version while an older one could lead"
)

var scenarios = []*scenario{kill, evict, deny, rollout, upgrade}

// chosen are the scenarios with that text in their names.
func chosen(text string) []*scenario {
	var all []*scenario
	for _, s := range scenarios {
		if strings.Contains(s.name, text) {
			all = append(all, s)
		}
	}
	return all
}

func names() []string {
	var all []string
	for _, s := range scenarios {
		all = append(all, s.name)
	}
	return all
}

// contenders are those that can play the scenario.
func (s *scenario) contenders() []*contender {
	var all []*contender
	for _, c := range contenders {
		if c.governed || !s.governedOnly {
			all = append(all, c)
		}
	}
	return all
}
