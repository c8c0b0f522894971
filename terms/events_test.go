package terms

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

func notes(found []finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, f.reason+": "+f.note)
	}
	return out
}

func TestStatusFindings(t *testing.T) {
	status := func(terms string, conditions ...metav1.Condition) *v1alpha1.ElectionStatus {
		s := &v1alpha1.ElectionStatus{Conditions: conditions}
		if terms != "" {
			s.Terms = read(t, terms)
		}
		return s
	}
	is := func(kind, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	not := func(kind string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionFalse}
	}
	const conflict, none = v1alpha1.ConditionPolicyConflict, v1alpha1.ConditionNoEligibleCandidate
	tests := []struct {
		name             string
		previous, status *v1alpha1.ElectionStatus
		want             []string
	}{
		{name: "nothing new", previous: status("a 0-", is(conflict, "r", "m")), status: status("a 0-", is(conflict, "r", "m"))},
		{name: "a holder that we find", status: status("a 0-")},
		{name: "the first holder", previous: status(""), status: status("a 0-"), want: []string{"LeaderChanged: a leads"}},
		{name: "the next holder", previous: status("a 0-"), status: status("b 9-; a 0-9 Released"),
			want: []string{"LeaderChanged: b leads; the term of a ended: Released"}},
		{name: "the same holder again", previous: status("a 0-"), status: status("a 9-; a 0-9 Expired"),
			want: []string{"LeaderChanged: a leads; the term of a ended: Expired"}},
		{name: "a term that ended", previous: status("a 0-"), status: status("a 0-9 Released")},
		{name: "a conflict", previous: status("", not(conflict)), status: status("", is(conflict, "r", "p and q")),
			want: []string{"PolicyConflict: p and q"}},
		{name: "a conflict that we find", status: status("", is(conflict, "r", "p and q")), want: []string{"PolicyConflict: p and q"}},
		{name: "another conflict", previous: status("", is(conflict, "r", "p and q")), status: status("", is(conflict, "r", "p and r")),
			want: []string{"PolicyConflict: p and r"}},
		{name: "no eligible candidate", previous: status("", not(none)), status: status("", is(none, "r", "m")),
			want: []string{"NoEligibleCandidate: m"}},
		{name: "no eligible candidate, in other words", previous: status("", is(none, "r", "1 of 3")), status: status("", is(none, "r", "1 of 4"))},
		{name: "no eligible candidate, for another reason", previous: status("", is(none, "r", "m")), status: status("", is(none, "s", "n")),
			want: []string{"NoEligibleCandidate: n"}},
		{name: "eligible again", previous: status("", is(none, "r", "m")), status: status("", not(none))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, notes(statusFindings(tt.previous, tt.status))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func prioritised(priority, until string, since float64) *corev1.Pod {
	pod := podOf("a", "v1.36.0")
	pod.CreationTimestamp = metav1.NewTime(at(since))
	pod.Annotations = map[string]string{}
	if priority != "" {
		pod.Annotations[v1alpha1.PriorityAnnotation] = priority
	}
	if until != "" {
		pod.Annotations[v1alpha1.PriorityUntilAnnotation] = until
	}
	return pod
}

func TestPriorityFindings(t *testing.T) {
	const day = 24 * 3600
	policy := policyOf("p", v1alpha1.Priority)
	tests := []struct {
		name          string
		before, after *corev1.Pod
		from, to      float64
		want          string // the start of the only note, "" for none
	}{
		{"in force", prioritised("5", "", 0), prioritised("5", "", 0), 1, day - 2, ""},
		{"forgotten", prioritised("5", "", 0), prioritised("5", "", 0), 1, day, "priority 5 of a ended at 2026-03-02T12:00:00Z, after maxPriorityDuration (24h0m0s)"},
		{"expired", prioritised("5", "2026-03-01T12:00:09Z", 0), prioritised("5", "2026-03-01T12:00:09Z", 0), 1, 9, "priority 5 of a ended at 2026-03-01T12:00:09Z, as leasewarden.dev/priority-until says"},
		{"extended", prioritised("5", "2026-03-01T12:00:09Z", 0), prioritised("5", "2026-03-01T12:00:50Z", 0), 1, 9, ""},
		{"taken back", prioritised("5", "2026-03-01T12:00:09Z", 0), prioritised("", "", 0), 1, 9, ""},
		{"ended before we came", prioritised("5", "2026-03-01T12:00:09Z", 0), prioritised("5", "2026-03-01T12:00:09Z", 0), 10, 11, ""},
		{"gone with its Pod", prioritised("5", "2026-03-01T12:00:09Z", 0), podOf("b", "v1"), 1, 9, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p priorities
			p, early := p.update(look(t, tt.from, nil, nil, policy, tt.before).view)
			p, found := p.update(look(t, tt.to, nil, nil, policy, tt.after).view)
			_, again := p.update(look(t, tt.to+1, nil, nil, policy, tt.after).view)
			if len(early) > 0 || len(again) > 0 {
				t.Errorf("told too early %q, or again %q", notes(early), notes(again))
			}
			if tt.want == "" {
				if len(found) > 0 {
					t.Errorf("told %q", notes(found))
				}
				return
			}
			if len(found) != 1 || !strings.HasPrefix(found[0].note, tt.want) || found[0].pod == nil {
				t.Errorf("told %q, want %q", notes(found), tt.want)
			}
		})
	}
}

func TestPrioritiesNext(t *testing.T) {
	if got := (priorities{"a": at(5), "b": at(3)}).next(); !got.Equal(at(3)) {
		t.Errorf("next is %v", got)
	}
	if got := (priorities{}).next(); !got.IsZero() {
		t.Errorf("next of none is %v", got)
	}
}

func TestIgnoredValues(t *testing.T) {
	policy := policyOf("p", v1alpha1.Priority)
	wrong, right := prioritised("high", "", 0), prioritised("5", "", 0)
	var told map[candidates.Problem]bool
	for i, step := range []struct {
		pod  *corev1.Pod
		news int
	}{{wrong, 1}, {wrong, 0}, {right, 0}, {wrong, 1}} {
		var found []finding
		told, found = ignoredValues(told, look(t, 1, nil, nil, policy, step.pod).view)
		if len(found) != step.news {
			t.Errorf("step %d told %q, want %d", i, notes(found), step.news)
		}
	}
}

// Without the candidate, the Events on two of them would be one with a count.
func TestEventsNameTheCandidate(t *testing.T) {
	status := &v1alpha1.ElectionStatus{Candidates: []v1alpha1.CandidateVerdict{
		{Name: "pod", Sources: []string{"Pod", "LeaseCandidate"}}, {Name: "lc", Sources: []string{"LeaseCandidate"}}, {Name: "host", Sources: []string{"Candidate"}},
	}}
	for name, kind := range map[string]string{"pod": "Pod", "lc": "LeaseCandidate", "host": "Candidate"} {
		ref, ok := candidateRef("ns", name, status).(*corev1.ObjectReference)
		if !ok || ref.Kind != kind || ref.Name != name || ref.Namespace != "ns" || ref.APIVersion == "" {
			t.Errorf("%s is referred to as %+v", name, ref)
		}
	}
	for _, name := range []string{"", "stranger"} {
		if ref := candidateRef("ns", name, status); ref != nil {
			t.Errorf("%q is referred to as %+v", name, ref)
		}
	}
	if candidateRef("ns", "pod", nil) != nil {
		t.Error("nobody is listed")
	}
}
