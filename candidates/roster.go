package candidates

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/picker"
)

// roster is the list of candidates of one Lease, with what their identities
// are recognised by. candidates and instances go by the same index.
type roster struct {
	namespace  string
	pattern    *identityPattern
	candidates []picker.Candidate
	instances  []instance
	problems   []Problem

	byName     map[string]int
	byIdentity map[string][]int
	byHost     map[string][]int
	// byFoldedHost are hostnames in lower case, where case does not count.
	byFoldedHost map[string][]int
	// qualified are the candidates with a fully qualified hostname.
	qualified []int
}

// instance is what a candidate is recognised by.
type instance struct {
	// pod is nil for a candidate that is not a Pod.
	pod *corev1.Pod
	// identities are holder identities that only this candidate writes.
	identities []string
	// identity is the one that it was last seen with or registered for.
	identity string
	// proved is the UID of the Pod whose token came with identity. Empty: it is
	// only a claim.
	proved types.UID
	// stopped is when the last container that counts ended. Zero: one runs.
	stopped time.Time
	hosts   hostNames
}

// newRoster makes an empty roster for about n candidates.
func newRoster(namespace string, pattern *identityPattern, n int) *roster {
	return &roster{
		namespace:    namespace,
		pattern:      pattern,
		candidates:   make([]picker.Candidate, 0, n),
		instances:    make([]instance, 0, n),
		byName:       make(map[string]int, n),
		byIdentity:   map[string][]int{},
		byHost:       make(map[string][]int, n),
		byFoldedHost: map[string][]int{},
	}
}

// add adds a candidate under a name that is free.
func (r *roster) add(c picker.Candidate, n instance) (i int) {
	i = len(r.candidates)
	c.Name = r.freeName(&c)
	r.candidates = append(r.candidates, c)
	r.instances = append(r.instances, n)
	r.byName[c.Name] = i
	r.recognise(i, &n)
	return i
}

// recognise has candidate i recognised by what n says.
func (r *roster) recognise(i int, n *instance) {
	for _, identity := range n.identities {
		addIndex(r.byIdentity, identity, i)
	}
	for _, host := range n.hosts.names {
		if n.hosts.fold {
			addIndex(r.byFoldedHost, strings.ToLower(host), i)
		} else {
			addIndex(r.byHost, host, i)
		}
	}
	if n.hosts.fqdn != "" {
		r.qualified = append(r.qualified, i)
	}
}

func addIndex(to map[string][]int, key string, i int) {
	if !slices.Contains(to[key], i) {
		to[key] = append(to[key], i)
	}
}

// freeName is the name of c, with its source before it if another candidate
// has that name already. Names of API objects have no slash.
func (r *roster) freeName(c *picker.Candidate) string {
	if _, taken := r.byName[c.Name]; taken {
		return string(c.Sources[0]) + "/" + c.Name
	}
	return c.Name
}

// match returns the candidates that identity fits best: by their whole
// registered identity, or else by the longest hostname.
func (r *roster) match(identity string) []int {
	if identity == "" {
		return nil
	}
	if known := r.byIdentity[identity]; len(known) > 0 {
		return r.likeliest(known)
	}
	return r.matchHost(identity)
}

// matchHost returns the candidates whose hostname identity has, the longest
// one.
func (r *roster) matchHost(identity string) []int {
	if r.pattern == nil {
		return r.likeliest(r.matchLead(identity, func(int) bool { return true }))
	}
	if host := r.pattern.hostname(identity); host != "" {
		if pods := r.named(host, r.isPod); len(pods) > 0 {
			return r.likeliest(pods)
		}
	}
	return r.matchLead(identity, func(i int) bool { return !r.isPod(i) })
}

func (r *roster) isPod(i int) bool { return r.instances[i].pod != nil }

// matchLead returns those of the candidates whose hostname identity begins
// with: the whole identity, or what stands before one of its underscores. The
// longest wins, so that "a_b" is preferred to "a" for the identity "a_b_c".
func (r *roster) matchLead(identity string, of func(int) bool) []int {
	n := len(identity)
	if n > maxHostLength {
		n = strings.LastIndexByte(identity[:maxHostLength+1], '_')
	}
	for ; n > 0; n = strings.LastIndexByte(identity[:n], '_') {
		if found := r.named(identity[:n], of); len(found) > 0 {
			return found
		}
	}
	return nil
}

// named returns those of the candidates that have that hostname.
func (r *roster) named(host string, of func(int) bool) []int {
	var found []int
	collect := func(indices []int) {
		for _, i := range indices {
			if of(i) && !slices.Contains(found, i) {
				found = append(found, i)
			}
		}
	}
	collect(r.byHost[host])
	if len(r.byFoldedHost) > 0 {
		collect(r.byFoldedHost[strings.ToLower(host)])
	}
	for _, i := range r.qualified {
		if r.instances[i].hosts.qualify(host) {
			collect([]int{i})
		}
	}
	return found
}

// likeliest leaves out, of several that fit equally well, those which are less
// likely to be alive: on one node's network, the Pod that has ended is not the
// one that writes.
func (r *roster) likeliest(matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	least := r.instances[matches[0]].age()
	for _, i := range matches[1:] {
		least = min(least, r.instances[i].age())
	}
	return slices.DeleteFunc(slices.Clone(matches), func(i int) bool { return r.instances[i].age() != least })
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

// index is that of the candidate of that name, or -1.
func (r *roster) index(name string) int {
	if i, ok := r.byName[name]; ok {
		return i
	}
	return -1
}

// pod returns the candidate that is the Pod of that name.
func (r *roster) pod(name string) (int, bool) {
	i := r.index(name)
	return i, i >= 0 && r.isPod(i)
}

// describe says what messages call candidate i.
func (r *roster) describe(i int) string {
	return string(r.candidates[i].Sources[0]) + " " + r.candidates[i].Name
}

// describeAll names several candidates: "Pod a and Pod b".
func (r *roster) describeAll(indices []int) string {
	all := make([]string, len(indices))
	for n, i := range indices {
		all[n] = r.describe(i)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// heard notes the last attempt of a candidate. A Pod that was heard with its
// own token runs, whatever its status says yet.
func (r *roster) heard(i int, last attempt) {
	c, n := &r.candidates[i], &r.instances[i]
	c.LastAttempt, c.Tries = last.at, last.count
	n.identity, n.proved = last.identity, last.pod
	if n.pod == nil || last.pod == "" || n.pod.UID != last.pod {
		return
	}
	// The API keeps seconds of the time in which a container ended.
	restarted := c.Unavailable == noContainerRuns && last.at.After(n.stopped.Add(time.Second))
	if c.Unavailable == notRunning || restarted {
		c.Unavailable = ""
	}
}
