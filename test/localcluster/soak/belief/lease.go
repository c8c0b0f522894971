package belief

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// notice is how much later than it happened the end of a process may be known.
// It does not count as leading, unless the process said so itself.
const notice = 250 * time.Millisecond

// Term is one time in which one process led.
type Term struct {
	Span
	Life *Life
}

// Lease is what the electors of one Lease believed.
type Lease struct {
	// Terms are when each led, in the order of time.
	Terms []Term
	// Stale are the beliefs that were left over from before a pause.
	Stale []Term
	// able is when at least one elector ran, and was not paused.
	able []Span
	// now is until when it is known.
	now time.Time
}

// Judge brings together the lives of the electors of one Lease.
func Judge(lives []*Life, now time.Time) *Lease {
	l := &Lease{now: now}
	var able []Span
	for _, life := range lives {
		b := life.Beliefs(now)
		for _, s := range b.Leads {
			l.Terms = append(l.Terms, Term{s, life})
		}
		for _, s := range b.Stale {
			l.Stale = append(l.Stale, Term{s, life})
		}
		able = append(able, life.Able(now)...)
	}
	for _, terms := range [][]Term{l.Terms, l.Stale} {
		slices.SortFunc(terms, func(a, b Term) int {
			return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Life.Name, b.Life.Name))
		})
	}
	l.able = Union(able)
	return l
}

// Two is two leaders at once.
type Two struct {
	Span
	A, B string
}

func (t Two) String() string {
	return fmt.Sprintf("%s and %s both led from %s for %s", t.A, t.B, t.From.Format("15:04:05.000"), t.Length())
}

// Twos are the times in which two electors led at once.
func (l *Lease) Twos() []Two {
	var all []Two
	for i, a := range l.Terms {
		for _, b := range l.Terms[i+1:] {
			if b.Life == a.Life {
				continue
			}
			both := Span{b.From, earlier(a.certain(), b.certain())}
			if both.From.Before(both.To) {
				all = append(all, Two{both, a.Life.Name, b.Life.Name})
			}
		}
	}
	return all
}

// certain is until when it led for certain.
func (t Term) certain() time.Time {
	if t.To.Equal(t.Life.Ended) {
		return t.To.Add(-notice)
	}
	return t.To
}

// Vacancy is a time in which nobody led.
type Vacancy struct {
	Span
	// Next is who led next, "" if nobody has yet.
	Next string
	// Waited is for how long that was in the electors' hands: not while the API
	// server could not be reached, and not while no elector ran.
	Waited time.Duration
}

// Vacancies are those that began in a span, after the first leader. Outages are
// when nobody can elect: a vacancy counts from the end of the last one on.
func (l *Lease) Vacancies(in Span, outages []Span) []Vacancy {
	var all []Vacancy
	for i, s := range l.led() {
		v := Vacancy{Span: Span{s.To, l.now}}
		if next := l.after(i); next != nil {
			v.To, v.Next = next.From, next.Life.Name
		}
		if s.To.Before(in.From) || !s.To.Before(in.To) || !s.To.Before(v.To) {
			continue
		}
		from := v.From
		for _, o := range outages {
			if o.From.Before(v.To) && o.To.After(from) {
				from = o.To
			}
		}
		v.Waited = Total(Within(l.able, Span{from, v.To}))
		all = append(all, v)
	}
	return all
}

// led is when anybody led.
func (l *Lease) led() []Span {
	var spans []Span
	for _, t := range l.Terms {
		spans = append(spans, t.Span)
	}
	return Union(spans)
}

// after is the first term of the time after that one in which somebody led.
func (l *Lease) after(i int) *Term {
	led := l.led()
	if i+1 >= len(led) {
		return nil
	}
	for j := range l.Terms {
		if l.Terms[j].From.Equal(led[i+1].From) {
			return &l.Terms[j]
		}
	}
	return nil
}

// Changes counts the terms that began in the span and are not of the process
// that led before.
func (l *Lease) Changes(in Span) int {
	n := 0
	for i, t := range l.Terms {
		if i > 0 && l.Terms[i-1].Life != t.Life && !t.From.Before(in.From) && t.From.Before(in.To) {
			n++
		}
	}
	return n
}

// Leader is who leads in the end, nil if nobody does.
func (l *Lease) Leader() *Life {
	for _, t := range slices.Backward(l.Terms) {
		if t.To.Equal(l.now) && t.Life.Ended.IsZero() {
			return t.Life
		}
	}
	return nil
}
