package candidates

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/picker"
)

// roster is the list of candidates of one Lease while it is put together, with
// what their identities are recognised by. candidates and instances go by the
// same index.
type roster struct {
	namespace  string
	pattern    *identityPattern
	candidates []picker.Candidate
	instances  []instance
	problems   []Problem
}

// instance is what a candidate is recognised by.
type instance struct {
	// pod is nil for a candidate that is not a Pod.
	pod *corev1.Pod
	// identities are holder identities that only this candidate writes.
	identities []string
	// identity is the one that it was last seen with or registered for.
	identity string
	hosts    hostNames
}

// exact is the strength of a match by the whole identity.
const exact = int(^uint(0) >> 1)

// match returns the candidates that identity fits best: by their whole
// registered identity, or else by the longest hostname.
func (r *roster) match(identity string) []int {
	if identity == "" {
		return nil
	}
	host := ""
	if r.pattern != nil {
		host = r.pattern.hostname(identity)
	}
	var best []int
	strongest := 1
	for i := range r.instances {
		s := r.instances[i].strength(identity, r.pattern != nil, host)
		if s > strongest {
			best, strongest = best[:0], s
		}
		if s == strongest {
			best = append(best, i)
		}
	}
	return r.likeliest(best)
}

// strength says how well identity fits: 0 not at all, exact if it is known as
// a whole, else the length of the hostname. Pods of a policy with a pattern
// are compared with the hostname that the pattern captured.
func (n *instance) strength(identity string, patterned bool, host string) int {
	switch {
	case slices.Contains(n.identities, identity):
		return exact
	case n.pod == nil || !patterned:
		return n.hosts.lead(identity)
	case host != "" && n.hosts.are(host):
		return len(host)
	}
	return 0
}

// likeliest leaves out, of several that fit equally well, those which are less
// likely to be alive: on one node's network, the Pod that has ended is not the
// one that writes.
func (r *roster) likeliest(matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	least := slices.MinFunc(matches, func(a, b int) int { return r.instances[a].age() - r.instances[b].age() })
	age := r.instances[least].age()
	return slices.DeleteFunc(matches, func(i int) bool { return r.instances[i].age() != age })
}

// age orders the stages of a life: 0 alive, 1 terminating, 2 ended.
func (n *instance) age() int {
	switch {
	case n.pod == nil:
		return 0
	case n.pod.Status.Phase == corev1.PodFailed || n.pod.Status.Phase == corev1.PodSucceeded:
		return 2
	case n.pod.DeletionTimestamp != nil:
		return 1
	}
	return 0
}

// one returns the only candidate that identity fits.
func (r *roster) one(identity string) (int, bool) {
	m := r.match(identity)
	if len(m) != 1 {
		return -1, false
	}
	return m[0], true
}

// pod returns the candidate that is the Pod of that name.
func (r *roster) pod(name string) (int, bool) {
	i := slices.IndexFunc(r.instances, func(n instance) bool { return n.pod != nil && n.pod.Name == name })
	return i, i >= 0
}

// describe says what messages call candidate i.
func (r *roster) describe(i int) string {
	return string(r.candidates[i].Sources[0]) + " " + r.candidates[i].Name
}

// describeAll names several candidates: "Pods a and b".
func (r *roster) describeAll(indices []int) string {
	all := make([]string, len(indices))
	for n, i := range indices {
		all[n] = r.describe(i)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}
