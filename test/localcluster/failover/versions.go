package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// settled is how long a Pod must have run to count as one that could lead: its
// elector has had the time to say so.
const settled = time.Second

// life is what is known of a Pod.
type life struct {
	pod, version string
	created      time.Time
	spans        []span
}

// span is a time in which a Pod ran and was not asked to stop. Its end is zero
// while it goes on.
type span struct{ begin, end time.Time }

// couldLead reports whether the Pod could have led at that moment.
func (l *life) couldLead(at time.Time) bool {
	return slices.ContainsFunc(l.spans, func(s span) bool {
		return !at.Before(s.begin.Add(settled)) && (s.end.IsZero() || at.Before(s.end))
	})
}

// runs takes up whether the Pod runs now.
func (l *life) runs(runs bool, now time.Time) {
	last := len(l.spans) - 1
	goesOn := last >= 0 && l.spans[last].end.IsZero()
	switch {
	case runs && !goesOn:
		l.spans = append(l.spans, span{begin: now})
	case !runs && goesOn:
		l.spans[last].end = now
	}
}

// watched is when which version of a lane's Pods ran.
type watched struct {
	cancel context.CancelFunc

	mu   sync.Mutex
	pods map[types.UID]*life
}

// watchPods begins to watch, and returns once the Pods that run are known.
func (l *lane) watchPods(ctx context.Context) (*watched, error) {
	w := &watched{pods: map[types.UID]*life{}}
	ctx, w.cancel = context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(l.kube, 0, informers.WithNamespace(l.namespace))
	informer := factory.Core().V1().Pods().Informer()
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.changed(o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { w.changed(o.(*corev1.Pod)) },
	})
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), handler.HasSynced)
	return w, ctx.Err()
}

func (w *watched) stop() { w.cancel() }

func (w *watched) changed(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.pods[pod.UID]
	if l == nil {
		_, version, _ := strings.Cut(pod.Spec.Containers[0].Image, ":v")
		l = &life{pod: pod.Name, version: version, created: pod.CreationTimestamp.Time}
		w.pods[pod.UID] = l
	}
	l.runs(runs(pod), time.Now())
}

// skews counts the terms that began though a candidate of an older version could
// have led.
func (w *watched) skews(terms []elector.Record) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, term := range terms {
		leader := w.of(term)
		for _, l := range w.pods {
			if leader != nil && l.couldLead(term.At) && older(l.version, leader.version) {
				n++
				break
			}
		}
	}
	return n
}

// of is the Pod whose term it is: the last one of this name.
func (w *watched) of(term elector.Record) *life {
	var last *life
	for _, l := range w.pods {
		if l.pod == podOf(term.Identity) && l.created.Before(term.At) && (last == nil || l.created.After(last.created)) {
			last = l
		}
	}
	return last
}

// older reports whether a is an older version than b.
func older(a, b string) bool {
	order, err := utilversion.MustParseGeneric(b).Compare(a)
	return err == nil && order > 0
}
