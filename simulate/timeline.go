package simulate

import (
	"container/heap"
	"context"
	"time"
)

// timeline is what is still to come, in the order of time. What comes at the
// same time comes in the order in which it was planned.
type timeline struct {
	now   time.Time
	queue planned
	count int
}

type item struct {
	at    time.Time
	order int
	do    func()
}

// after plans do. It is never called before after returns.
func (t *timeline) after(d time.Duration, do func()) {
	t.count++
	heap.Push(&t.queue, item{t.now.Add(d), t.count, do})
}

// runUntil does what is planned until end. The error is that of ctx, which ends
// it before.
func (t *timeline) runUntil(ctx context.Context, end time.Time) error {
	for len(t.queue) > 0 && !t.queue[0].at.After(end) {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := heap.Pop(&t.queue).(item)
		t.now = next.at
		next.do()
	}
	t.now = end
	return nil
}

// planned implements heap.Interface.
type planned []item

func (p planned) Len() int { return len(p) }
func (p planned) Less(i, j int) bool {
	if p[i].at.Equal(p[j].at) {
		return p[i].order < p[j].order
	}
	return p[i].at.Before(p[j].at)
}
func (p planned) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *planned) Push(x any)   { *p = append(*p, x.(item)) }
func (p *planned) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}
