package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

func TestNotesSayWhatIsNotKnown(t *testing.T) {
	metadata := func(e entry) entry { return e.with("level", "Metadata").without("requestObject") }
	for name, test := range map[string]struct {
		set  *candidates.ObjectSet
		log  []entry
		want []string
	}{
		"nothing is missing": {
			set: objects(policy(oldest)),
			log: []entry{podIs(0, pod("a-v1.36.0")), creates(1, "a-v1.36.0_1")},
		},
		"Leases without their content": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{podIs(0, pod("a-v1.36.0")), metadata(creates(0, "a-v1.36.0_1")), metadata(renews(2, 0, "a-v1.36.0_1"))},
			want: []string{"2 writes were recorded without the Lease", "level Request or RequestResponse"},
		},
		"patches of what is not known": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{podIs(0, pod("a-v1.36.0")), acquires(0, "a-v1.36.0_1").with("verb", "patch")},
			want: []string{"1 patches were recorded without the answer", "level RequestResponse"},
		},
		"a Lease that is none": {
			set: objects(policy(oldest), "a-v1.36.0"),
			log: []entry{podIs(0, pod("a-v1.36.0")), creates(0, "a-v1.36.0_1").with("requestObject", map[string]any{"spec": map[string]any{"renewTime": "yesterday"}}),
				renews(2, 0, "a-v1.36.0_1").with("requestObject", map[string]any{"kind": "Pod"})},
			want: []string{"2 writes have an object that cannot be read as a Lease", "standard input:2: parsing time", "yesterday"},
		},
		"another kind in the answer": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{podIs(0, pod("a-v1.36.0")), creates(0, "a-v1.36.0_1").with("responseObject", map[string]any{"kind": "Pod"})},
			want: []string{"1 writes have an object that cannot be read as a Lease", `standard input:2: its kind is "Pod"`},
		},
		"Pods without the answer": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{podIs(0, pod("a-v1.36.0")).without("responseObject"), creates(1, "a-v1.36.0_1")},
			want: []string{"1 writes to Pods were recorded without the answer", "level RequestResponse"},
		},
		"no Pods": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{creates(0, "a-v1.36.0_1")},
			want: []string{"The log has no Pods"},
		},
		"no candidates": {
			set:  objects(policy(oldest)),
			log:  []entry{creates(0, "a-v1.36.0_1")},
			want: []string{"The log has no Pods", "No candidate is known"},
		},
		"a holder stood still": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{podIs(0, pod("a-v1.36.0")), creates(1, "a-v1.36.0_1"), renews(60, 1, "a-v1.36.0_1")},
			want: []string{"A holder went on 1 times"},
		},
		"what is estimated": {
			set:  objects(policy(oldest), "a-v1.36.0"),
			log:  []entry{podIs(0, pod("b-v1.37.0")), creates(1, "b-v1.37.0_1"), renews(4, 1, "b-v1.37.0_1")},
			want: []string{"acquire the Lease 3s after the refusal"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, Options{Objects: test.set}, text(t, test.log))
			notes := strings.Join(append(r.Notes, r.Leases[0].Notes...), "\n")
			if len(test.want) == 0 && notes != "" {
				t.Errorf("notes are %q", notes)
			}
			for _, want := range test.want {
				if !strings.Contains(notes, want) {
					t.Errorf("notes are %q, want %q", notes, want)
				}
			}
		})
	}
}

func TestRulingsAreComparedWithThoseInTheLog(t *testing.T) {
	live := func(e entry, decision, chosen string) entry {
		return e.with("annotations", map[string]string{
			"leases.leasewarden.dev/decision": decision, "leases.leasewarden.dev/chosen": chosen, "authorization.k8s.io/decision": "allow",
		})
	}
	r := run(t, Options{Objects: objects(policy(oldest), "a-v1.36.0", "b-v1.37.0")}, text(t, []entry{
		live(creates(0, "b-v1.37.0_1"), "Deny", "a-v1.36.0"),
		releases(1),
		live(acquires(2, "a-v1.36.0_1"), "Allow", "a-v1.36.0"),
		releases(3),
		live(acquires(4, "b-v1.37.0_1"), "Allow", "b-v1.37.0"),
		releases(5),
		acquires(6, "a-v1.36.0_1"),
	}))
	want := &Recorded{Decisions: map[string]int{"Allow": 2, "Deny": 1}, Agree: 2, Differ: 1, Differences: []string{"standard input:5"}}
	if diff := cmp.Diff(want, r.Leases[0].Recorded); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestCandidatesAreThoseThatWereSeen(t *testing.T) {
	late := pod("c-v1.36.0")
	updated := pod("b-v1.37.0")
	updated.Labels["version"] = "v1.37.1"
	reads := newEntry(3, "get", "leases", "coordination.k8s.io", "app", nil).with("user", map[string]any{
		"username": "system:serviceaccount:ns:app", "extra": map[string]any{"authentication.kubernetes.io/pod-name": []string{"b-v1.37.0"}},
	})
	r := run(t, Options{Objects: objects(policy(oldest), "a-v1.36.0", "b-v1.37.0")}, text(t, []entry{
		creates(0, "a-v1.36.0_1"), reads, podIs(4, updated), podIs(4, late), releases(5), acquires(6, "a-v1.36.0_1"),
	}))
	heardA, heardB := at(6), at(3)
	want := []Candidate{
		{Name: "a-v1.36.0", Versions: []string{"v1.36.0"}, Nodes: []string{"node-a"}, Source: "Pod", Seen: &heardA},
		{Name: "b-v1.37.0", Versions: []string{"v1.37.0", "v1.37.1"}, Nodes: []string{"node-b"}, Source: "Pod", Seen: &heardB},
		{Name: "c-v1.36.0", Versions: []string{"v1.36.0"}, Nodes: []string{"node-c"}, Source: "Pod"},
	}
	if diff := cmp.Diff(want, r.Leases[0].Candidates); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
}

func TestWhatHappensToPods(t *testing.T) {
	gone := func(e entry) entry { return e.with("verb", "delete").without("responseObject") }
	evicted := func(e entry) entry {
		e["objectRef"].(map[string]any)["subresource"] = "eviction"
		return e.with("verb", "create").with("responseObject", map[string]any{"kind": "Status"})
	}
	forced := func(p *corev1.Pod) *corev1.Pod {
		p = terminating(p, 3)
		*p.DeletionGracePeriodSeconds = 0
		return p
	}
	for name, test := range map[string]struct {
		event entry
		want  string
	}{
		"asked to stop":    {podIs(3, terminating(pod("a-v1.36.0"), 3)), "b-v1.37.0"},
		"deleted":          {gone(podIs(3, pod("a-v1.36.0"))), "b-v1.37.0"},
		"deleted by force": {podIs(3, forced(pod("a-v1.36.0"))).with("verb", "delete"), "b-v1.37.0"},
		"evicted":          {evicted(podIs(3, pod("a-v1.36.0"))), "b-v1.37.0"},
		"refused":          {gone(podIs(3, pod("a-v1.36.0"))).code(409, "no"), "a-v1.36.0"},
		"tried":            {gone(podIs(3, pod("a-v1.36.0"))).with("requestURI", "/x?dryRun=All"), "a-v1.36.0"},
		"read":             {podIs(3, terminating(pod("a-v1.36.0"), 3)).with("verb", "get"), "a-v1.36.0"},
		"another one":      {gone(podIs(3, pod("c-v1.36.0"))), "a-v1.36.0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, Options{Objects: objects(policy(oldest), "a-v1.36.0", "b-v1.37.0")}, text(t, []entry{test.event, creates(4, "x_1")}))
			if got := r.Leases[0].Refusals[0].Chosen; got != test.want {
				t.Errorf("chosen is %s, want %s", got, test.want)
			}
		})
	}
}

func TestUnregisteredIdentitiesAreRegistered(t *testing.T) {
	p := policy(v1alpha1.Sticky)
	p.Spec.Candidates.Unregistered = v1alpha1.RegisterUnregistered
	r := run(t, Options{Objects: objects(p)}, text(t, []entry{creates(0, "x_1"), renews(2, 0, "x_1"), releases(4), acquires(5, "y_1")}))
	l := &r.Leases[0]
	if l.Attempts.Total != 2 || l.Attempts.Refused != 1 || l.Attempts.Reasons["NotChosen"] != 1 {
		// x is a candidate for as long as a registration lasts, and the older one.
		t.Errorf("attempts are %+v", l.Attempts)
	}
	if len(l.Candidates) != 2 || l.Candidates[0].Source != "Attempt" {
		t.Errorf("candidates are %+v", l.Candidates)
	}
}

func TestLeasesThatNoPolicyGoverns(t *testing.T) {
	other := creates(1, "x_1")
	other["objectRef"] = map[string]any{"resource": "leases", "apiGroup": "coordination.k8s.io", "namespace": "elsewhere", "name": "y"}
	node := creates(1, "node-1")
	node["objectRef"] = map[string]any{"resource": "leases", "apiGroup": "coordination.k8s.io", "namespace": "kube-node-lease", "name": "node-1"}
	log := text(t, []entry{creates(0, "a-v1.36.0_1"), other, node})
	for name, test := range map[string]struct {
		o      Options
		leases string
		left   int
	}{
		"left out":         {Options{Objects: objects(policy(oldest), "a-v1.36.0")}, "ns/app", 1},
		"asked for":        {Options{Objects: objects(policy(oldest), "a-v1.36.0"), All: true}, "elsewhere/y ns/app", 0},
		"without a policy": {Options{Objects: candidates.NewObjectSet(), All: true}, "elsewhere/y ns/app", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, test.o, log)
			var got []string
			for i := range r.Leases {
				got = append(got, r.Leases[i].Lease)
			}
			if strings.Join(got, " ") != test.leases || r.Ungoverned != test.left {
				t.Errorf("leases are %v and %d others, want %s and %d", got, r.Ungoverned, test.leases, test.left)
			}
		})
	}
}

func TestALogWithoutEventsIsAnError(t *testing.T) {
	for name, log := range map[string]string{"empty": "", "other lines": "I0101 klog\nI0101 klog\n", "other JSON": `{"leases":1}` + "\n"} {
		t.Run(name, func(t *testing.T) {
			a, err := New(context.Background(), Options{Objects: candidates.NewObjectSet(), Paths: []string{"-"}, Stdin: strings.NewReader(log)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Run(); !errors.Is(err, ErrNoEvents) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// TestEveryListIsOne: scripts go through lists without asking whether they are
// there.
func TestEveryListIsOne(t *testing.T) {
	for name, r := range map[string]*Report{
		"nothing to tell": run(t, Options{Objects: objects(policy(oldest))}, text(t, []entry{podIs(0, pod("a-v1.36.0"))})),
		"a Lease":         run(t, Options{Objects: objects(policy(oldest), "a-v1.36.0")}, text(t, []entry{creates(0, "a-v1.36.0_1")})),
	} {
		t.Run(name, func(t *testing.T) {
			out, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var any map[string]any
			if err := json.Unmarshal(out, &any); err != nil {
				t.Fatal(err)
			}
			for _, at := range nulls("", any) {
				switch at {
				case ".leases[0].asItWas.terms[0].end", ".leases[0].underPolicy.terms[0].end":
				default:
					t.Errorf("%s is null", at)
				}
			}
		})
	}
}

func nulls(at string, v any) []string {
	var found []string
	switch v := v.(type) {
	case nil:
		return []string{at}
	case map[string]any:
		for key, value := range v {
			found = append(found, nulls(at+"."+key, value)...)
		}
	case []any:
		for i, value := range v {
			found = append(found, nulls(fmt.Sprintf("%s[%d]", at, i), value)...)
		}
	}
	return found
}

func TestWhoIsExemptIsNotRefused(t *testing.T) {
	p := policy(oldest)
	p.Spec.Exempt = &v1alpha1.Exemption{Users: []string{"system:serviceaccount:ns:app"}}
	r := run(t, Options{Objects: objects(p, "a-v1.36.0", "b-v1.37.0")}, text(t, []entry{creates(0, "b-v1.37.0_1"), renews(2, 0, "b-v1.37.0_1")}))
	l := &r.Leases[0]
	if l.Attempts.Refused != 0 || describe(l.UnderPolicy) != "b-v1.37.0 0-" {
		t.Errorf("attempts are %+v, under the policy %s", l.Attempts, describe(l.UnderPolicy))
	}
}

func TestTheOrderOfLinesDoesNotMatter(t *testing.T) {
	log := []entry{acquires(0, "a"), renews(2, 0, "a"), releases(4), acquires(5, "b"), renews(7, 5, "b"), acquires(30, "c"), renews(40, 30, "c")}
	want := run(t, Options{Objects: candidates.NewObjectSet(), All: true}, text(t, log))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(log), func(i, j int) { log[i], log[j] = log[j], log[i] })
		got := run(t, Options{Objects: candidates.NewObjectSet(), All: true}, text(t, log)+text(t, log[:3]))
		if diff := cmp.Diff(want.Leases, got.Leases); diff != "" || !got.Log.From.Equal(at(0)) || len(got.Log.Findings) != 1 {
			t.Fatalf("from %v, findings %v, (-want +got):\n%s", got.Log.From, got.Log.Findings, diff)
		}
	}
}

func TestTimeThatIsNotKnownIsNotVacant(t *testing.T) {
	log := []entry{creates(0, "a-v1.36.0_1"), releases(5), acquires(7, "a-v1.36.0_1").without("requestObject"), acquires(30, "a-v1.36.0_1"), renews(40, 30, "a-v1.36.0_1")}
	l := run(t, Options{Objects: objects(policy(oldest), "a-v1.36.0")}, text(t, log)).Leases[0]
	for name, c := range map[string]*Course{"as it was": &l.AsItWas, "under the policy": l.UnderPolicy} {
		if c.NotKnown != 25 || c.WithoutLeader != 0 || !c.Terms[0].NotKnown || c.Terms[1].NotKnown {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestLeasesThatAreDeletedTogether(t *testing.T) {
	together := func(response any) entry {
		return newEntry(5, "deletecollection", "leases", "coordination.k8s.io", "", nil).with("responseObject", response)
	}
	item := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	for name, test := range map[string]struct {
		response any
		want     string
		known    bool
	}{
		"this one":       {map[string]any{"kind": "LeaseList", "items": []any{item("other"), item("app")}}, "a-v1.36.0 0-5 Deleted", true},
		"others":         {map[string]any{"kind": "LeaseList", "items": []any{item("other")}}, "a-v1.36.0 0-", true},
		"nobody says so": {nil, "a-v1.36.0 0-15 Expired", false},
	} {
		t.Run(name, func(t *testing.T) {
			end := newEntry(14, "get", "leases", "coordination.k8s.io", "app", nil)
			if !test.known {
				end = newEntry(20, "get", "leases", "coordination.k8s.io", "app", nil)
			}
			r := run(t, Options{Objects: objects(policy(oldest), "a-v1.36.0")}, text(t, []entry{creates(0, "a-v1.36.0_1"), together(test.response), end}))
			l := &r.Leases[0]
			if got := describe(&l.AsItWas); got != test.want {
				t.Errorf("terms are %s, want %s", got, test.want)
			}
			if notes := strings.Join(r.Notes, " "); strings.Contains(notes, "deleted with one request") == test.known || l.AsItWas.NotKnown > 0 == test.known {
				t.Errorf("not known for %v, notes are %s", l.AsItWas.NotKnown, notes)
			}
		})
	}
}
