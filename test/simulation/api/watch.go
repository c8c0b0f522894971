package api

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watch is a running watch: the body of its answer. Each event waits for its
// delay, and comes after the one before.
type watch struct {
	selection
	link   *Link
	name   string
	server *Server
	cancel func() bool

	mu      sync.Mutex
	pending []event
	n       uint64
	last    time.Time
	wake    chan struct{}
	end     error
}

type event struct {
	due  time.Time
	line []byte
}

// watch begins one after the given version. With initial, what there is comes
// first, and then a bookmark.
func (s *Server) watch(ctx context.Context, l *Link, sel selection, since uint64, initial bool) *watch {
	w := &watch{selection: sel, link: l, server: s, wake: make(chan struct{}, 1),
		name: fmt.Sprintf("%s watch %s %s %s", l.Name, sel.resource, sel.namespace, sel.labels)}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.n = l.next(w.name) << 32
	if initial {
		for _, o := range s.list(sel.resource) {
			if w.selects(o) {
				w.add("ADDED", w.shape(o), 0)
			}
		}
		w.add("BOOKMARK", w.bookmark(s.version), 0)
	} else {
		for _, c := range s.log[sel.resource] {
			if c.Version > since {
				w.see(c)
			}
		}
	}
	s.watches[w] = struct{}{}
	w.cancel = context.AfterFunc(ctx, func() { w.stop(ctx.Err()) })
	return w
}

func (w *watch) bookmark(version uint64) []byte {
	gvk := resources[w.resource].GroupVersionKind
	if w.metadata {
		gvk = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d","annotations":{%q:"true"}}}`,
		gvk.GroupVersion(), gvk.Kind, version, metav1.InitialEventsAnnotationKey)
}

// see takes up a change. It is called with the Server's lock held.
func (w *watch) see(c Commit) {
	if c.Resource != w.resource {
		return
	}
	was, is := w.selects(c.Old), w.selects(c.New)
	delay := w.link.watchDelay(w.name, w.n)
	switch {
	case was && is:
		w.add("MODIFIED", w.shape(c.New), delay)
	case is:
		w.add("ADDED", w.shape(c.New), delay)
	case was:
		w.add("DELETED", w.shape(gone(&c)), delay)
	}
}

// gone is a deleted object as the last event shows it.
func gone(c *Commit) *Object {
	o := *c.Old
	o.version = c.Version
	o.ResourceVersion = fmt.Sprint(c.Version)
	if o.Lease != nil {
		o.Lease = o.Lease.DeepCopy()
		o.Lease.ResourceVersion = o.ResourceVersion
		o.raw = nil
		return &o
	}
	f := must(fieldsOf(c.Old.raw))
	metadataOf(f)["resourceVersion"] = o.ResourceVersion
	o.raw = must(encode(f))
	return &o
}

func (w *watch) add(kind string, object []byte, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	due := time.Now().Add(delay)
	if !due.After(w.last) {
		due = w.last.Add(time.Nanosecond) // what comes of one ends before the next
	}
	w.last = due
	line := fmt.Appendf(nil, `{"type":%q,"object":%s}`+"\n", kind, object)
	w.pending = append(w.pending, event{due: due, line: line})
	w.signal()
}

func (w *watch) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Read implements io.Reader.
func (w *watch) Read(b []byte) (int, error) {
	for {
		n, wait, err := w.take(b)
		if n > 0 || err != nil {
			return n, err
		}
		if wait < 0 {
			<-w.wake
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.wake:
			timer.Stop()
		}
	}
}

// take copies what is due, or says how long to wait; below 0: for an event.
func (w *watch) take(b []byte) (n int, wait time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.end != nil:
		return 0, 0, w.end
	case len(w.pending) == 0:
		return 0, -1, nil
	}
	head := &w.pending[0]
	if wait := time.Until(head.due); wait > 0 {
		return 0, wait, nil
	}
	n = copy(b, head.line)
	if head.line = head.line[n:]; len(head.line) == 0 {
		w.pending = w.pending[1:]
	}
	return n, 0, nil
}

// stop ends the watch at once: what was not delivered is lost.
func (w *watch) stop(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end == nil {
		w.end = why
		if w.end == nil {
			w.end = io.EOF
		}
	}
	w.signal()
}

// Close implements io.Closer.
func (w *watch) Close() error {
	w.stop(io.EOF)
	w.cancel()
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	delete(w.server.watches, w)
	return nil
}

// CutWatches ends all watches of a Link, as a lost connection does.
func (s *Server) CutWatches(l *Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		if w.link == l {
			w.stop(io.ErrUnexpectedEOF)
		}
	}
}
