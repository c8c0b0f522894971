package simulation

import (
	"fmt"
	"time"

	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// firstMinor is the minor version that components begin with.
const firstMinor = 30

// revisions are the minor versions that a component had, the last one is what new
// Pods have.
type revisions map[*component][]int

// last is the number of the newest revision, and its minor version.
func (r revisions) last(c *component) (revision, minor int) {
	minors := r[c]
	if len(minors) == 0 {
		return 0, firstMinor
	}
	return len(minors), minors[len(minors)-1]
}

// add makes a revision whose version differs by so many minors from the last.
func (r revisions) add(c *component, by int) {
	_, from := r.last(c)
	r[c] = append(r[c], max(0, from+by))
}

// current is the revision that new Pods of the component have, and its minor version.
func (w *world) current(c *component) (revision, minor int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revisions.last(c)
}

// upgrade replaces the Pods of a component one after the other, by those of a
// version that is newer, or older in a rollback.
func (w *world) upgrade(c *component, by int) {
	w.mu.Lock()
	w.revisions.add(c, by)
	revision, minor := w.revisions.last(c)
	w.mu.Unlock()
	w.trace.add("upgrade of %s to revision %d, version 1.%d.0", c.name, revision, minor)
	w.upgrading.Go(func() {
		for _, p := range w.podsOf(c) {
			if p.revision >= revision {
				continue
			}
			time.Sleep(api.Between(api.Draw(w.seed, fmt.Sprint("upgrade ", p.name), uint64(revision)), 2*time.Second, 12*time.Second))
			w.trace.add("upgrade: %s", p.name)
			p.delete()
			<-p.ended
		}
	})
}
