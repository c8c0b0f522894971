package simulate

import (
	"time"

	"github.com/leasewarden/leasewarden/picker"
)

// Term is a time that one replica led.
type Term struct {
	Holder, Identity, Version, Node string
	Start, End                      time.Time
	// Ended says that it did before the run.
	Ended bool
	// Criterion is what decided for it.
	Criterion string
}

// measure is what is measured in one run.
type measure struct {
	run *run
	// Changes counts the leaders that followed another one, Refused the attempts
	// that were refused.
	Changes, Refused int
	// Vacant is how long nobody led after somebody had, Longest the longest time
	// without a break. Both is how long more than one replica led.
	Vacant, Longest, Both time.Duration
	// Skewed is how long the leader was newer than an API server.
	Skewed time.Duration
	Terms  []Term

	leaders   []*elector
	last      string
	since     time.Time
	criterion string
	skewed    bool
	skewSince time.Time
}

// leaderChanged takes up that a process leads now, or does not any more.
func (r *run) leaderChanged(e *elector) { r.measured.changed(e) }

func (m *measure) changed(e *elector) {
	m.account()
	if e.leading {
		m.begin(e)
	} else {
		m.end(e)
	}
	m.versions()
}

func (m *measure) begin(e *elector) {
	if m.last != "" && m.last != e.identity {
		m.Changes++
	}
	m.last = e.identity
	m.leaders = append(m.leaders, e)
	m.Terms = append(m.Terms, Term{
		Holder: e.replica.Name, Identity: e.identity, Version: e.replica.Version, Node: e.replica.Node,
		Start: m.run.now, Criterion: m.criterion,
	})
}

func (m *measure) end(e *elector) {
	for i, leader := range m.leaders {
		if leader == e {
			m.leaders = append(m.leaders[:i:i], m.leaders[i+1:]...)
			break
		}
	}
	for i := len(m.Terms) - 1; i >= 0; i-- {
		if m.Terms[i].Identity == e.identity {
			m.Terms[i].End, m.Terms[i].Ended = m.run.now, true
			break
		}
	}
}

// account adds up the time since the last change.
func (m *measure) account() {
	length := m.run.now.Sub(m.since)
	switch {
	case m.last == "":
	case len(m.leaders) == 0:
		m.Vacant += length
		m.Longest = max(m.Longest, length)
	case len(m.leaders) > 1:
		m.Both += length
	}
	m.since = m.run.now
}

// versions takes up that a leader or an API server has changed.
func (m *measure) versions() {
	skewed := m.isSkewed()
	if m.skewed {
		m.Skewed += m.run.now.Sub(m.skewSince)
	}
	m.skewed, m.skewSince = skewed, m.run.now
}

func (m *measure) isSkewed() bool {
	for _, leader := range m.leaders {
		version := picker.ParseVersion(leader.replica.Version)
		for _, server := range m.run.apiServers {
			if version.Compare(server) > 0 {
				return true
			}
		}
	}
	return false
}

func (m *measure) finish() {
	m.account()
	m.versions()
	for i := range m.Terms {
		if !m.Terms[i].Ended {
			m.Terms[i].End = m.run.now
		}
	}
}
