package webhook

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
	"github.com/leasewarden/leasewarden/picker/plugins"
)

// What a dry-run would deny is told to whoever asks for it only if the policy
// says so, whatever it is.
func TestDryRunWarnings(t *testing.T) {
	warns := func(b *candidates.Ballot) { b.Spec = &v1alpha1.ElectionPolicySpec{DryRunWarnings: true} }
	dryRun := withPolicy(testPolicy(mode(v1alpha1.DryRun)))
	attempt := review(admissionv1.Create, nil, testLease("sched-b_1", 1))
	annotate := review(admissionv1.Update, testLease("sched-a_1", 1), testLease("sched-a_1", 1, "leasewarden.dev/step-down", "x"))
	for _, tc := range []struct {
		name    string
		review  *admissionv1.AdmissionReview
		edit    []func(*candidates.Ballot)
		serve   bool
		warning string
	}{
		{name: "not asked for", review: attempt, edit: []func(*candidates.Ballot){dryRun}},
		{name: "asked for", review: attempt, edit: []func(*candidates.Ballot){dryRun, warns}, warning: "would be denied if the policy were enforced: lease kube-system/kube-scheduler: candidate sched-b is not chosen: sched-a is chosen"},
		{name: "serve --dry-run", review: attempt, edit: []func(*candidates.Ballot){warns}, serve: true, warning: "candidate sched-b is not chosen"},
		{name: "an annotation of ours", review: annotate, edit: []func(*candidates.Ballot){dryRun, warns}, warning: "only Leasewarden may write the annotation"},
		{name: "allowed", review: review(admissionv1.Create, nil, testLease("sched-a_1", 1)), edit: []func(*candidates.Ballot){dryRun, warns}},
		{name: "a renewal", review: review(admissionv1.Update, testLease("sched-b_1", 1), testLease("sched-b_1", 2)), edit: []func(*candidates.Ballot){dryRun, warns}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFixture(t, tc.edit...)
			f.leases.DryRun = tc.serve
			status, got := f.post(t, ValidateLeasePath, tc.review)
			g.Expect(status).To(Equal(http.StatusOK))
			g.Expect(got.Allowed).To(BeTrue())
			if tc.warning == "" {
				g.Expect(got.Warnings).To(BeEmpty())
			} else {
				g.Expect(got.Warnings).To(HaveExactElements(ContainSubstring(tc.warning)))
			}
			_, mutated := f.post(t, MutateLeasePath, tc.review)
			g.Expect(mutated.Patch).To(BeEmpty())
			g.Expect(mutated.Warnings).To(BeEmpty(), "one of the halves is enough")
		})
	}
	enforced := newFixture(t, warns)
	if _, got := enforced.post(t, ValidateLeasePath, attempt); got.Allowed || len(got.Warnings) > 0 {
		t.Errorf("enforced: %+v", got)
	}
}

// A ruling in dry-run goes by who would lead, and not by who does because nobody
// is refused; and says so.
func TestDryRunRulesOnTheCounterfactual(t *testing.T) {
	sticky := testPolicy(mode(v1alpha1.DryRun), func(p *picker.Policy) { p.Scores = []picker.Score{plugins.Sticky{}, oldest{}} })
	ballot := func(policy *picker.Policy, wouldLead string) *candidates.Ballot {
		return testBallot("sched-b", withPolicy(policy), func(b *candidates.Ballot) {
			b.State.Lease.LastHolder, b.WouldLead = "sched-b", wouldLead
		})
	}
	g := NewWithT(t)
	inStep := Rule(Acquire, "sched-b_1", ballot(sticky, ""), false)
	g.Expect(inStep.Verdict).To(Equal(Allow))
	g.Expect(audit(&inStep)).NotTo(HaveKey(AuditWouldLead))

	b := ballot(sticky, "sched-c")
	diverged := Rule(Acquire, "sched-b_1", b, false)
	g.Expect([]string{string(diverged.Verdict), diverged.Chosen, diverged.Criterion}).To(Equal([]string{"Deny", "sched-c", "Sticky"}))
	g.Expect(diverged.Admits()).To(BeTrue())
	g.Expect(audit(&diverged)).To(HaveKeyWithValue(AuditWouldLead, "sched-c"))
	g.Expect(b.State.Lease.LastHolder).To(Equal("sched-b"), "the ballot is not changed")

	enforced := *sticky
	enforced.Mode = v1alpha1.Enforce
	g.Expect(Rule(Acquire, "sched-b_1", ballot(&enforced, "sched-c"), false).Verdict).To(Equal(Allow), "what is enforced goes by what is")
}
