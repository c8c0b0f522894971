package belief

import (
	"slices"
	"time"
)

// Span is a time from one moment to another.
type Span struct{ From, To time.Time }

// Length is how long it is.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }

// Union joins spans that touch, in the order of time.
func Union(spans []Span) []Span {
	sorted := slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return a.From.Compare(b.From) })
	var all []Span
	for _, s := range sorted {
		if last := len(all) - 1; last >= 0 && !s.From.After(all[last].To) {
			all[last].To = later(all[last].To, s.To)
			continue
		}
		all = append(all, s)
	}
	return all
}

// Within cuts spans to what of them is within another span.
func Within(spans []Span, in Span) []Span {
	var all []Span
	for _, s := range spans {
		s = Span{later(s.From, in.From), earlier(s.To, in.To)}
		if s.From.Before(s.To) {
			all = append(all, s)
		}
	}
	return all
}

// Total is how long spans are that do not touch.
func Total(spans []Span) time.Duration {
	total := time.Duration(0)
	for _, s := range spans {
		total += s.Length()
	}
	return total
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
