package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/audit/auditlog"
	"github.com/leasewarden/leasewarden/candidates"
)

// maxUngoverned bounds the Leases that are remembered because no policy governs
// them.
const maxUngoverned = 10_000

// Options say what to audit.
type Options struct {
	// Objects are the policies, and what the log does not tell of the candidates.
	Objects *candidates.ObjectSet
	// Paths are the files of the log, Stdin is read for "-".
	Paths []string
	Stdin io.Reader
	// All reports on Leases that no policy governs, too.
	All bool
}

// Audit reads a log. It is not safe for concurrent use, but for Progress.
type Audit struct {
	log        *auditlog.Log
	objects    *candidates.Replay
	users      users
	leases     map[types.NamespacedName]*leaseAudit
	ungoverned map[types.NamespacedName]struct{}
	all        bool
	from, to   time.Time
	// pods counts writes of Pods, noPods those that lack the answer, collections
	// deletions of Leases that do not say which.
	pods, noPods, collections int
}

// New looks at the files of the log, which is read until ctx ends. The error
// names one that cannot be read.
func New(ctx context.Context, o Options) (*Audit, error) {
	a := &Audit{
		objects:    candidates.NewReplay(o.Objects),
		users:      users{},
		leases:     map[types.NamespacedName]*leaseAudit{},
		ungoverned: map[types.NamespacedName]struct{}{},
		all:        o.All,
	}
	var err error
	a.log, err = auditlog.Open(ctx, auditlog.Options{
		Paths: o.Paths, Stdin: o.Stdin, Resources: a.resources(), Wants: a.wants,
	})
	return a, err
}

// resources are those that are worth reading about. Without a policy, nobody is
// a candidate.
func (a *Audit) resources() []string {
	if len(a.objects.Policies()) == 0 {
		return []string{"leases"}
	}
	return append([]string{"leases"}, slices.Sorted(maps.Keys(resources))...)
}

// wants reports whether an object matters.
func (a *Audit) wants(ref auditlog.Ref) bool {
	if ref.Resource != "leases" {
		return a.hasCandidatesIn(ref.Namespace)
	}
	if ref.Group != "coordination.k8s.io" || ref.Namespace == candidates.NodeLeaseNamespace {
		return false
	}
	if ref.Name == "" {
		return a.all || a.hasCandidatesIn(ref.Namespace)
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if a.leases[key] != nil {
		return true
	}
	if _, known := a.ungoverned[key]; known {
		return a.all
	}
	if a.objects.Governing(key).Policy != nil {
		return true
	}
	if len(a.ungoverned) < maxUngoverned {
		a.ungoverned[key] = struct{}{}
	}
	return a.all
}

// hasCandidatesIn reports whether some policy can govern Leases of a namespace.
func (a *Audit) hasCandidatesIn(namespace string) bool {
	for _, p := range a.objects.Policies() {
		if p.Ref.Namespace == "" || p.Ref.Namespace == namespace {
			return true
		}
	}
	return false
}

// ErrNoEvents is returned for a log without a single event.
var ErrNoEvents = errors.New("the log has no audit event: give JSON lines of audit.k8s.io/v1, as kube-apiserver writes them with --audit-log-path")

// Run reads the log to its end.
func (a *Audit) Run() (*Report, error) {
	for {
		e, err := a.log.Next()
		switch {
		case errors.Is(err, io.EOF):
			return a.report()
		case err != nil:
			return nil, err
		}
		a.take(e)
	}
}

// Progress is how many bytes were read of how many; see auditlog.Log.Read.
func (a *Audit) Progress() (done, total int64) { return a.log.Read() }

func (a *Audit) take(e *auditlog.Event) {
	if a.from.IsZero() {
		a.from = e.Time
	}
	a.to = e.Time
	if e.Ref.Resource != "leases" {
		a.takeObject(e)
		return
	}
	if e.Ref.Name == "" {
		a.takeCollection(e)
		return
	}
	l := a.lease(types.NamespacedName{Namespace: e.Ref.Namespace, Name: e.Ref.Name})
	l.settle(e.Time)
	l.take(e)
}

// takeObject takes up a change of a candidate, as of which the course of each
// Lease in its namespace may change.
func (a *Audit) takeObject(e *auditlog.Event) {
	switch e.Verb {
	case "create", "update", "patch", "delete":
	default:
		return
	}
	if !e.Succeeded() || e.DryRun {
		return
	}
	if e.Ref.Resource == "pods" {
		a.pods++
		if e.Response == nil && e.Verb != "delete" && e.Ref.Subresource != "eviction" {
			a.noPods++
			return
		}
	}
	for _, l := range a.leases {
		l.settle(e.Time)
	}
	takeObject(a.objects, e)
	for key, l := range a.leases {
		if key.Namespace == e.Ref.Namespace {
			l.podsChanged(e.Time)
		}
	}
}

func (a *Audit) lease(key types.NamespacedName) *leaseAudit {
	l := a.leases[key]
	if l == nil {
		l = &leaseAudit{
			key: key, governed: a.objects.Governing(key).Policy != nil,
			objects: a.objects, users: a.users,
		}
		a.leases[key] = l
	}
	return l
}

func (a *Audit) report() (*Report, error) {
	stats := a.log.Stats()
	if stats.Audit == 0 {
		return nil, a.unreadable()
	}
	r := &Report{
		Log: Log{
			From: a.from, To: a.to, Lines: stats.Lines, Events: stats.Events,
			Findings: a.log.Findings(),
		},
		Leases: []Lease{},
		Notes:  a.notes(),
	}
	if !a.all {
		r.Ungoverned = len(a.ungoverned)
	}
	if r.Log.Findings == nil {
		r.Log.Findings = []*auditlog.Finding{}
	}
	for _, key := range slices.SortedFunc(maps.Keys(a.leases), compareKeys) {
		r.Leases = append(r.Leases, a.leases[key].report(a.to))
	}
	return r, nil
}

// unreadable also says what was found in the place of events.
func (a *Audit) unreadable() error {
	all := a.log.Findings()
	if len(all) == 0 {
		return ErrNoEvents
	}
	return fmt.Errorf("%w (%s)", ErrNoEvents, all[0])
}
