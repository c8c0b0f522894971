package audit

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/picker"
)

// maxCandidates bounds the candidates and identities that are remembered of one
// Lease.
const maxCandidates = 2048

// person is what is known of a holder identity.
type person struct{ name, version, node string }

// people knows holder identities as the candidates that they were when they
// asked for the Lease.
type people map[string]person

func (p *people) add(identity string, c *picker.Candidate) {
	if *p == nil {
		*p = people{}
	}
	if len(*p) < maxCandidates {
		(*p)[identity] = person{name: c.Name, version: c.BinaryVersion.String(), node: c.Node}
	}
}

// describe fills in what is known of the holder of a term.
func (p people) describe(t *Term) {
	if who, ok := p[t.Identity]; ok {
		t.Holder, t.Version, t.Node = who.name, who.version, who.node
	}
}

func describeHolder(t *Term, c *picker.Candidate) {
	t.Holder, t.Version, t.Node = c.Name, c.BinaryVersion.String(), c.Node
}

// sightings are the candidates that were seen.
type sightings map[string]*Candidate

func (s *sightings) addAll(all []picker.Candidate) {
	if *s == nil {
		*s = sightings{}
	}
	for i := range all {
		s.add(&all[i])
	}
}

func (s sightings) add(c *picker.Candidate) {
	known := s[c.Name]
	if known == nil {
		if len(s) >= maxCandidates {
			return
		}
		known = &Candidate{Name: c.Name, Versions: []string{}, Nodes: []string{}}
		s[c.Name] = known
	}
	known.Source = string(c.Sources[0])
	known.Versions = with(known.Versions, c.BinaryVersion.String())
	known.Nodes = with(known.Nodes, c.Node)
}

func with(list []string, value string) []string {
	if value == "" || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// heard notes that a candidate asked for the Lease, or looked at it.
func (s sightings) heard(name string, at time.Time) {
	if known := s[name]; known != nil {
		known.Seen = &at
	}
}

func (s sightings) isPod(name string) bool {
	return s[name] != nil && s[name].Source == string(picker.SourcePod)
}

// report is in the order of names.
func (s sightings) report() []Candidate {
	all := make([]Candidate, 0, len(s))
	for _, c := range slices.SortedFunc(maps.Values(s), func(a, b *Candidate) int { return strings.Compare(a.Name, b.Name) }) {
		all = append(all, *c)
	}
	return all
}
