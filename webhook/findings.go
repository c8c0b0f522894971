package webhook

import (
	"sync"

	"k8s.io/utils/lru"
)

// maxFindings bounds the claimants whose last ruling is remembered. One that
// was forgotten is only logged once more.
const maxFindings = 4096

// findings remembers what was last found of each claimant, so that a candidate
// that is turned away every other second is one line in the log, not thousands.
type findings struct {
	once sync.Once
	last *lru.Cache
}

type findingKey struct{ namespace, name, holder string }

type finding struct {
	transition Transition
	verdict    Verdict
	reason     Reason
	chosen     string
	criterion  string
}

// changed notes what was found and reports whether it is news.
func (f *findings) changed(key findingKey, found finding) bool {
	f.once.Do(func() { f.last = lru.New(maxFindings) })
	if last, ok := f.last.Get(key); ok && last == found {
		return false
	}
	f.last.Add(key, found)
	return true
}

// report logs a ruling: every acquire that goes through, and of the others, which
// are tried again and again, each change.
func (l *Leases) report(w *write, r *Ruling) {
	key := findingKey{w.Namespace, w.Name, quote(holder(w.new))} // bounded: anybody may make up long ones
	found := finding{r.Transition, r.Verdict, r.Reason, r.Chosen, r.Criterion}
	if news := l.findings.changed(key, found); !news && (r.Verdict == Deny || r.Transition == Renew) {
		return
	}
	log := l.Log.WithValues("lease", quote(w.Namespace)+"/"+quote(w.Name), "transition", r.Transition,
		"holder", quote(holder(w.new)), "reason", r.Reason, "policy", r.Policy.String())
	if r.Criterion != "" {
		log = log.WithValues("criterion", r.Criterion)
	}
	if r.WouldLead != "" {
		log = log.WithValues("wouldLead", quote(r.WouldLead))
	}
	switch {
	case r.Verdict == Allow:
		log.Info("Allowed", "candidate", quote(r.Claimant))
	case r.Admits():
		log.Info("Would deny", "mode", r.Mode, "message", r.Message)
	default:
		log.Info("Denied", "message", r.Message)
	}
}
