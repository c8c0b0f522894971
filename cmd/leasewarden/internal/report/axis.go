package report

import (
	"strings"
	"time"
	"unicode/utf8"
)

// axis maps times to the cells of a line.
type axis struct {
	start, end time.Time
	cells      int
}

// steps are the distances of two ticks to choose from.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 30 * day, 90 * day, 365 * day,
}

const (
	day = 24 * time.Hour
	// tickWidth is the least distance of two ticks in cells, so that their
	// labels have room.
	tickWidth = 14
)

// cell is the one that a time is in.
func (a *axis) cell(t time.Time) int {
	length := a.end.Sub(a.start)
	if length <= 0 {
		return 0
	}
	n := int(float64(t.Sub(a.start)) / float64(length) * float64(a.cells))
	return min(max(n, 0), a.cells-1)
}

// bar draws spans of time. Each fills a cell at least, so that none is lost.
func (a *axis) bar(fill rune, spans []span) string {
	line := []rune(strings.Repeat(" ", a.cells))
	for i := range spans {
		first, last := a.cell(spans[i].start), a.cell(spans[i].end)
		if last > first && spans[i].end.Before(a.end) {
			last-- // that cell is the next one's
		}
		for n := first; n <= last; n++ {
			line[n] = fill
		}
	}
	return string(line)
}

// ticks draws the labels and the line below them.
func (a *axis) ticks() (labels, line string) {
	step := a.step()
	layout := layoutFor(step, a.start, a.end)
	l, t := []rune(strings.Repeat(" ", a.cells)), []rune(strings.Repeat("─", a.cells))
	for at := a.start.Truncate(step); !at.After(a.end); at = at.Add(step) {
		if at.Before(a.start) {
			continue
		}
		n, label := a.cell(at), []rune(at.UTC().Format(layout))
		t[n] = '┬'
		if n+len(label) <= a.cells {
			copy(l[n:], label)
		}
	}
	return strings.TrimRight(string(l), " "), string(t)
}

// step is the smallest one with room for the labels.
func (a *axis) step() time.Duration {
	most := max(1, a.cells/tickWidth)
	for _, step := range steps {
		if int(a.end.Sub(a.start)/step) <= most {
			return step
		}
	}
	return steps[len(steps)-1]
}

// layoutFor shows what differs from one tick to the next, and the day where
// there is more than one.
func layoutFor(step time.Duration, start, end time.Time) string {
	layout := "15:04"
	switch {
	case step >= day:
		return "2006-01-02"
	case step < time.Minute:
		layout = "15:04:05"
	case start.UTC().Truncate(day) != end.UTC().Truncate(day):
		layout = "01-02 15:04"
	}
	return layout
}

// width counts characters.
func width(text string) int { return utf8.RuneCountInString(text) }
