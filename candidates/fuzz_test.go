package candidates

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// FuzzIdentify makes sure that a Pod is only ever recognised by its whole name,
// and that no token speaks for another Pod.
func FuzzIdentify(f *testing.F) {
	for _, s := range [][5]string{
		{"web-1", "web-10", "", "web-10_x", ""}, {"web-1", "web-10", "", "web-1_x", "web-10"}, {"web-1", "x", "", "web-1", "web-1"},
		{"web-1", "x", "", "web-1\x00_", ""}, {"a", "a_b", "", "a_b_c", "a"}, {"web", "x", "", "_web", ""}, {"web-1", "x", "", "WEB-1_x", ""},
		{"a.b", "x", "a", "a.b.c_d", ""}, {"", "x", "", "_", ""}, {"x", "y", "y", "y_1", "x"}, {"x", "y", "", strings.Repeat("_", 300), ""},
		{"x", "y", "", "node-1_1", "y"}, {"x", "y", "NODE-1", "node-1_1", "y"}, {"x", "y", "", "other", "x"}, {"x", "y", "", "z_1", "none"},
	} {
		f.Add(s[0], s[1], s[2], s[3], s[4], true)
		f.Add(s[0], s[1], s[2], s[3], s[4], false)
	}
	f.Fuzz(func(t *testing.T, one, other, hostname, identity, bound string, onHost bool) {
		if one == other {
			return // no two Pods have one name
		}
		pods := []*corev1.Pod{webPod(one, func(p *corev1.Pod) { p.Spec.Hostname = hostname }), webPod(other)}
		if onHost {
			hostNetwork("node-1")(pods[1])
		}
		a := assembly{objects: NewObjectSet(), policy: CompilePolicy(electionPolicy("p")), roster: newRoster("ns", nil, 2), lease: webKey}
		for _, p := range pods {
			a.addPod(p)
		}
		fits := plainMatch(pods, identity)
		if got := a.roster.identify(identity, nil, true); !agrees(got, fits) {
			t.Errorf("%q of %q and %q is %+v, want one of %q", identity, one, other, got, fits)
		}
		user := boundTo("ns", bound, "uid-"+bound)
		checkBound(t, a.roster.identify(identity, &user, true), fits, bound, []string{one, other})
	})
}

// plainMatch are the Pods that identity fits, by the longest of their names.
func plainMatch(pods []*corev1.Pod, identity string) []string {
	longest, fits := 0, []string{}
	for _, p := range pods {
		for _, name := range plainNames(p) {
			fit := plainly(p, name, identity)
			switch {
			case !fit || len(name) < longest || len(name) > maxHostLength:
			case len(name) > longest:
				longest, fits = len(name), []string{p.Name}
			case !slices.Contains(fits, p.Name):
				fits = append(fits, p.Name)
			}
		}
	}
	return fits
}

// plainNames are what a process in the Pod may call its host.
func plainNames(p *corev1.Pod) []string {
	if p.Spec.HostNetwork {
		return []string{p.Name, p.Spec.NodeName}
	}
	host := p.Spec.Hostname
	if host == "" {
		host = p.Name
	}
	if len(host) > 63 {
		host = strings.TrimRight(host[:63], "-.")
	}
	return []string{p.Name, host}
}

func plainly(p *corev1.Pod, name, identity string) bool {
	if p.Spec.HostNetwork {
		name, identity = strings.ToLower(name), strings.ToLower(identity)
	}
	return name != "" && (identity == name || strings.HasPrefix(identity, name+"_"))
}

// agrees reports whether an identification is one of those that fit, and none
// only if there is no way to tell.
func agrees(got Identification, fits []string) bool {
	if len(fits) == 1 {
		return got.Candidate == fits[0]
	}
	return got.Candidate == "" && len(got.Among) == len(fits)
}

// checkBound checks what a token that is bound to a Pod makes of it: that very
// Pod, or nobody. Whom the token is not bound to, it does not speak for.
func checkBound(t *testing.T, got Identification, fits []string, bound string, pods []string) {
	t.Helper()
	known := bound != "" && slices.Contains(pods, bound)
	switch {
	case bound == "" || got.Candidate == "" && len(got.Among) == 0:
	case got.Candidate != bound || !got.Proved:
		t.Errorf("the token of %q makes %+v", bound, got)
	case !known:
		t.Errorf("the token of %q, which is no candidate, makes %+v", bound, got)
	}
	if known && len(fits) == 1 && fits[0] == bound && got.Candidate != bound {
		t.Errorf("%q is not taken for itself: %+v", bound, got)
	}
}

// FuzzPolicy checks what must hold for any policy: its errors name their fields,
// it governs what its names say in its own namespace, and never what is
// reserved.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"spec":{"leases":{"names":["*"]},"strategy":{"name":"FirstCome"}}}`,
		`{"spec":{"leases":{"names":["a*b*","w**","web"]},"strategy":{"name":"OldestEmulationVersion"},"failurePolicy":"Fail"}}`,
		`{"spec":{"leases":{"names":["../other/web"]},"strategy":{"name":"Sticky"},"candidates":{"pods":{"selector":{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}}}}}`,
		`{"spec":{"leases":{"names":["web"]},"strategy":{"name":"Custom","filters":[{"cel":"candidate.labels['x'] == lease.name"}],"scores":[{"cel":"1.5"},{"cel":"candidate."}]}}}`,
		`{"spec":{"leases":{"names":["web"]},"strategy":{"name":"Priority","base":"Topology","topology":{"order":["a"]}},"candidates":{"pods":{"selector":{"matchLabels":{"app":"web"}},"identityPattern":"(?P<hostname>.*)/x","version":{"fromLabel":"a","fromAnnotation":"b"}},"unregistered":"Register"},"exempt":{"users":["u"]}}}`,
		`{"spec":{"acquireDeadline":"-1s","electionWindow":"1h","leases":{"names":["web"]},"preemption":{"when":"AfterRollout","minTerm":"-5m"},"strategy":{"name":"RolloutAware"}}}`,
	} {
		f.Add([]byte(seed), "web")
	}
	f.Fuzz(func(t *testing.T, data []byte, lease string) {
		var policy v1alpha1.ElectionPolicy
		if json.Unmarshal(data, &policy) != nil {
			return
		}
		policy.Namespace, policy.Name = "ns", "p"
		p := CompilePolicy(&policy)
		checkCompiled(t, p)
		checkReach(t, &policy, p, lease)
	})
}

func checkCompiled(t *testing.T, p *Policy) {
	t.Helper()
	if (p.Compiled == nil) != (len(p.Errors) > 0) || p.Governs() && p.Compiled == nil {
		t.Errorf("compiled: %t, governs: %t, errors: %v", p.Compiled != nil, p.Governs(), p.Errors)
	}
	for _, err := range p.Errors {
		if !strings.HasPrefix(err.Field, "spec.") || err.Detail == "" && err.BadValue == nil {
			t.Errorf("an error that does not help: %v", err)
		}
	}
	if user := (authenticationv1.UserInfo{}); p.Exempts(&user) && !slices.Contains(p.Spec.Exempt.Users, "") {
		t.Error("nobody is exempt")
	}
}

// checkReach compares what a policy governs with its names as expressions.
func checkReach(t *testing.T, policy *v1alpha1.ElectionPolicy, p *Policy, lease string) {
	t.Helper()
	selected := slices.ContainsFunc(policy.Spec.Leases.Names, func(name string) bool {
		expression := strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, `(?s:.*)`)
		return regexp.MustCompile(`\A` + expression + `\z`).MatchString(lease)
	})
	if p.SelectsName(lease) != selected {
		t.Errorf("%q selects %q: %t", policy.Spec.Leases.Names, lease, !selected)
	}
	s := NewPolicySet("leasewarden-system")
	governs := s.Set(policy).Governs()
	for namespace, want := range map[string]bool{"ns": selected && governs, "other": false, "": false, NodeLeaseNamespace: false} {
		if got := s.Governing(namespace, nil, lease).Policy != nil; got != want {
			t.Errorf("%q in namespace %q is governed: %t", lease, namespace, got)
		}
	}
	for _, reserved := range []string{NodeLeaseNamespace, "leasewarden-system"} {
		moved := policy.DeepCopy()
		moved.Namespace = reserved
		if s.Set(moved); s.Governing(reserved, nil, lease).Policy != nil {
			t.Errorf("%q in namespace %s is governed", lease, reserved)
		}
	}
}

// FuzzAttempt checks that attempts under any identity come to a ballot with one
// candidate more at most, and that no term ends sooner or later for them.
func FuzzAttempt(f *testing.F) {
	f.Add("web-1_1", "", "", 5, 15, true)
	f.Add("", "\x00", "x", -1, 0, false)
	f.Add(strings.Repeat("x", 1000), "web-1", "web-1_1", 1, 1<<30, true)
	objects := setOf(f, webPod("web-1"), electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Unregistered = v1alpha1.RegisterUnregistered }))
	f.Fuzz(func(t *testing.T, identity, pod, holder string, age, duration int, vacant bool) {
		r := NewReplay(objects)
		old := renewedAt(holder, start.Add(-seconds(age)))
		old.Spec.LeaseDurationSeconds = ptr(int32(duration))
		a := Attempt{Old: old, New: lease(identity), User: boundTo("ns", pod, "uid-"+pod), Time: start}
		if vacant {
			a.Old = nil
		}
		b, err := r.Attempt(a)
		if err != nil {
			t.Fatal(err)
		}
		claimant := b.Claimant.Candidate
		if n := len(b.State.Candidates); n > 2 || claimant != "" && b.roster.index(claimant) < 0 {
			t.Errorf("%d candidates, the claimant is %+v", n, b.Claimant)
		}
		if len(identity) > MaxIdentityBytes && claimant != "" && claimant != "web-1" {
			t.Errorf("an identity of %d bytes is %s", len(identity), claimant)
		}
		checkTerm(t, b, a.Old)
	})
}

func seconds(n int) time.Duration { return time.Duration(n%1e6) * time.Second }

// checkTerm: a term that may still run counts, and no other.
func checkTerm(t *testing.T, b *Ballot, old *coordinationv1.Lease) {
	t.Helper()
	runs := old != nil && old.Spec.HolderIdentity != nil && *old.Spec.LeaseDurationSeconds > 0 &&
		old.Spec.RenewTime.Add(time.Duration(*old.Spec.LeaseDurationSeconds)*time.Second).After(start)
	if runs != b.TermEnds.After(start) {
		t.Errorf("the term runs: %t, until %s", runs, b.TermEnds)
	}
}
