package candidates

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// Attempt says what an attempt to acquire a Lease comes down to, and remembers
// it, unless it is SideEffectFree. It returns an error that wraps
// ErrNotGoverned, or ErrNotSynced while something that the Lease's policy needs
// is missing. It asks nobody and waits for nothing.
func (c *Cache) Attempt(a Attempt) (*Ballot, error) {
	if a.New == nil {
		return nil, errors.New("candidates: Attempt.New is missing")
	}
	key := types.NamespacedName{Namespace: a.New.Namespace, Name: a.New.Name}
	c.mu.RLock()
	defer c.mu.RUnlock()
	g, err := c.governs(key)
	if err != nil {
		return nil, err
	}
	return poll{c.state, c.ledger, c.register, c.registrationsIn}.attempt(g, key, &a), nil
}

// poll is where attempts are counted: live ones, and those of a log.
type poll struct {
	objects Objects
	ledger  *ledger
	// register takes up an identity that nobody registered.
	register func(types.NamespacedName, registration)
	// registrations counts those of a namespace.
	registrations func(namespace string) int
}

func (p poll) attempt(g Governance, key types.NamespacedName, a *Attempt) *Ballot {
	past := p.ledger.asked(key, a.Old, a.Time, !a.SideEffectFree)
	b := &Ballot{
		View:       *assemble(p.objects, g, key, a.Old, past, a.Time),
		TermEnds:   past.term.ends,
		TermHolder: past.term.holder,
		Exempt:     g.Policy.Exempts(&a.User),
	}
	renews := a.renews()
	if !renews {
		b.vacate()
	}
	b.WouldLead = wouldLead(p.objects.Election(key), &b.State.Lease)
	b.claim(a)
	p.admit(key, g.Policy, a, b)
	if !renews {
		p.note(key, a, b)
	}
	return b
}

// renews reports whether the holder renews: that is no try to acquire, however
// long ago its term ran out by what it wrote. A holder that was told to step down
// could else have its replacement passed over.
func (a *Attempt) renews() bool {
	before := recordOf(a.Old).holder
	return before != "" && before == recordOf(a.New).holder
}

// vacate notes that nobody holds a Lease whose term may have run out: the
// attempt is ruled on as one on a vacant Lease.
func (b *Ballot) vacate() {
	l := &b.State.Lease
	if b.TermEnds.IsZero() && l.Holder != "" {
		l.Holder, l.LastHolder, l.Expired = "", l.Holder, true
	}
}

// wouldLead is Ballot.WouldLead, as the replica that publishes sees it.
func wouldLead(e *v1alpha1.Election, lease *picker.Lease) string {
	if e == nil || !e.Status.DryRun.Runs() {
		return ""
	}
	if leader := e.Status.DryRun.Leader; leader != lease.Holder && leader != lease.LastHolder {
		return leader
	}
	return ""
}

// claim identifies the claimant.
func (b *Ballot) claim(a *Attempt) {
	identity := recordOf(a.New).holder
	if identity == "" {
		b.Claimant = Identification{Problem: "names no holder"}
		return
	}
	b.Claimant = b.Identify(identity, &a.User)
	if l := &b.State.Lease; l.Duration == 0 {
		l.Duration = claimedDuration(recordOf(a.New).duration)
	}
}

// admit makes a candidate of a claimant that no source knows, if the policy
// says Register.
func (p poll) admit(key types.NamespacedName, policy *Policy, a *Attempt, b *Ballot) {
	r := b.roster
	if b.Claimant.Problem != notRegistered || policy.Spec.Candidates.Unregistered != v1alpha1.RegisterUnregistered {
		p.renew(key, a, b)
		return
	}
	if problem := r.registrable(recordOf(a.New).holder, p.registrations(key.Namespace)); problem != "" {
		b.Claimant.Problem = problem
		return
	}
	reg := newRegistration(key, a)
	b.Claimant = Identification{Candidate: r.addRegistration(p.objects, reg)}
	b.State.Candidates = r.candidates
	if !a.SideEffectFree {
		p.register(key, reg)
	}
}

// register has the object of a registration written, unless that was done
// lately, maybe by another replica, and remembers the registration until the
// object has arrived.
func (c *Cache) register(key types.NamespacedName, reg registration) {
	o, every := c.state.candidates[key][reg.name], renewEvery
	switch {
	case o == nil || expired(o, reg.last):
		every = writeEvery // nobody else knows of it
	case o.Spec.RenewTime != nil && reg.last.Sub(o.Spec.RenewTime.Time) < renewEvery:
		return
	}
	c.ledger.register(key, reg, o == nil)
	c.registrar.enqueue(key, reg, every)
}

// registrationsIn counts the registrations in a namespace, by any replica.
func (c *Cache) registrationsIn(namespace string) int {
	return c.state.registrations[namespace] + c.ledger.freshIn(namespace)
}

// renew has the registration of a claimant that an attempt registered renewed.
func (p poll) renew(key types.NamespacedName, a *Attempt, b *Ballot) {
	i := b.roster.index(b.Claimant.Candidate)
	if i < 0 || a.SideEffectFree || b.roster.candidates[i].Sources[0] != picker.SourceAttempt {
		return
	}
	reg := newRegistration(key, a)
	if reg.name != b.Claimant.Candidate {
		return
	}
	p.register(key, reg)
}

func newRegistration(key types.NamespacedName, a *Attempt) registration {
	identity := recordOf(a.New).holder
	token, _ := podOfToken(&a.User)
	return registration{name: registrationName(key, identity), identity: identity, node: token.node, since: a.Time, last: a.Time}
}

// registrable says why an identity can not be registered, or "". others is how
// many registrations the namespace has.
func (r *roster) registrable(identity string, others int) string {
	if len(identity) > MaxIdentityBytes {
		return fmt.Sprintf("is not a registered candidate, and longer than the %d characters that can be registered", MaxIdentityBytes)
	}
	n := 0
	for i := range r.candidates {
		if slices.Contains(r.candidates[i].Sources, picker.SourceAttempt) {
			n++
		}
	}
	const full = "is not a registered candidate, and %d others%s were registered by their attempts in the last %s"
	switch {
	case n >= MaxRegistrations:
		return fmt.Sprintf(full, n, "", RegistrationTTL)
	case others >= MaxNamespaceRegistrations:
		return fmt.Sprintf(full, others, " in its namespace", RegistrationTTL)
	}
	return ""
}

// addRegistration adds a candidate for an unregistered identity and returns
// its name.
func (r *roster) addRegistration(objects Objects, reg registration) string {
	i := r.add(candidateOf(objects, reg), instance{identities: []string{reg.identity}, identity: reg.identity})
	return r.candidates[i].Name
}

// note remembers the attempt of a candidate. One that could be that of several
// counts for each of them. Attempts of others do not count: an outsider that
// keeps trying must not have candidates passed over.
func (p poll) note(key types.NamespacedName, a *Attempt, b *Ballot) {
	if b.Claimant.Candidate != "" {
		p.noteOf(b.Claimant.Candidate, key, a, b)
		return
	}
	for _, name := range b.Claimant.Among {
		p.noteOf(name, key, a, b)
	}
}

func (p poll) noteOf(name string, key types.NamespacedName, a *Attempt, b *Ballot) {
	i := b.roster.index(name)
	if i < 0 {
		return
	}
	last := attempt{at: a.Time, identity: recordOf(a.New).holder}
	if token, _ := podOfToken(&a.User); b.Claimant.Proved {
		last.pod = types.UID(token.uid)
	}
	b.State.Lease.ContestedSince, last.count = p.ledger.attempted(key, name, last, recordOf(a.New).duration, !a.SideEffectFree)
	b.roster.heard(i, last)
}
