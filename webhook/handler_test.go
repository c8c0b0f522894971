package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// fakeElections governs the Lease kube-system/kube-scheduler.
type fakeElections struct {
	ballot   func(candidates.Attempt) (*candidates.Ballot, error)
	synced   error
	attempts []candidates.Attempt
}

func (f *fakeElections) Attempt(a candidates.Attempt) (*candidates.Ballot, error) {
	f.attempts = append(f.attempts, a)
	if f.synced != nil {
		return nil, f.synced
	}
	if a.New.Name != "kube-scheduler" {
		return nil, fmt.Errorf("%w: %s", candidates.ErrNotGoverned, a.New.Name)
	}
	return f.ballot(a)
}

func (f *fakeElections) Governing(key types.NamespacedName) candidates.Governance {
	if key.Name != "kube-scheduler" {
		return candidates.Governance{}
	}
	ballot, _ := f.ballot(candidates.Attempt{New: testLease("sched-a", 1)})
	return candidates.Governance{Policy: &candidates.Policy{Ref: ballot.Policy.PolicyRef, Spec: ballot.Spec, Compiled: ballot.Policy}}
}

func (f *fakeElections) Synced() error { return f.synced }

// byHostname recognises "<candidate>_<suffix>".
func byHostname(edit ...func(*candidates.Ballot)) func(candidates.Attempt) (*candidates.Ballot, error) {
	return func(a candidates.Attempt) (*candidates.Ballot, error) {
		name, _, _ := strings.Cut(holder(a.New), "_")
		return testBallot(name, edit...), nil
	}
}

type fixture struct {
	*fakeElections
	leases *Leases
	server *httptest.Server
	logs   *[]string
}

func newFixture(t testing.TB, edit ...func(*candidates.Ballot)) *fixture {
	f := &fixture{fakeElections: &fakeElections{ballot: byHostname(edit...)}, logs: &[]string{}}
	log := funcr.New(func(_, args string) { *f.logs = append(*f.logs, args) }, funcr.Options{})
	f.leases = &Leases{
		Elections: f, Username: "leasewarden", Metrics: NewMetrics(prometheus.NewRegistry()), Log: log,
	}
	mux := http.NewServeMux()
	mux.Handle(ValidateLeasePath, f.leases.Validating())
	mux.Handle(MutateLeasePath, f.leases.Mutating())
	mux.Handle(ValidatePolicyPath, (&Policies{Metrics: f.leases.Metrics, Log: logr.Discard()}).Validating())
	f.server = httptest.NewTLSServer(mux)
	t.Cleanup(f.server.Close)
	return f
}

func review(op admissionv1.Operation, old, new *coordinationv1.Lease) *admissionv1.AdmissionReview {
	r := &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "4f2a", Operation: op, Kind: leaseKind, Resource: leaseResource,
		UserInfo: authenticationv1.UserInfo{Username: "system:kube-scheduler"},
	}}
	r.SetGroupVersionKind(reviewKind)
	for _, o := range []struct {
		to    *runtime.RawExtension
		lease *coordinationv1.Lease
	}{{&r.Request.OldObject, old}, {&r.Request.Object, new}} {
		if o.lease != nil {
			o.to.Raw, _ = json.Marshal(o.lease)
			r.Request.Namespace, r.Request.Name = o.lease.Namespace, o.lease.Name
		}
	}
	return r
}

func (f *fixture) post(t testing.TB, path string, review *admissionv1.AdmissionReview) (int, *admissionv1.AdmissionResponse) {
	t.Helper()
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	status, answer := f.do(t, http.MethodPost, path, "application/json", bytes.NewReader(body))
	if status != http.StatusOK {
		return status, nil
	}
	var got admissionv1.AdmissionReview
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	if got.GroupVersionKind() != reviewKind || got.Response == nil || got.Response.UID != review.Request.UID {
		t.Fatalf("not an answer to the review: %s", answer)
	}
	return status, got.Response
}

func (f *fixture) do(t testing.TB, method, path, contentType string, body io.Reader) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, f.server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := f.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func TestValidating(t *testing.T) {
	dryRun := withPolicy(testPolicy(mode(v1alpha1.DryRun)))
	other := testLease("sched-b_1", 1)
	other.Name = "other"
	const (
		stepDown = v1alpha1.StepDownAnnotation
		toldToGo = "lease kube-system/kube-scheduler: candidate sched-b was told to step down: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane"
	)
	better := withPolicy(testPolicy(preempt(v1alpha1.PreemptForBetter)))
	steppedDown := map[string]string{AuditDecision: "Deny", AuditReason: "SteppedDown", AuditMode: "Enforce", AuditTransition: "Renew", AuditClaimant: "sched-b",
		AuditChosen: "sched-a", AuditCriterion: "OldestCandidate", AuditPolicy: "ElectionPolicy kube-system/control-plane"}
	coordinated := func(l *coordinationv1.Lease) *coordinationv1.Lease {
		l.Spec.Strategy = ptr.To(coordinationv1.OldestEmulationVersion)
		return l
	}
	for _, tc := range []struct {
		name     string
		op       admissionv1.Operation
		old, new *coordinationv1.Lease
		edit     []func(*candidates.Ballot)
		user     string
		message  string // empty: allowed
		audit    map[string]string
		attempts int
	}{
		{name: "chosen", op: admissionv1.Create, new: testLease("sched-a_1", 1), attempts: 1, audit: map[string]string{
			AuditDecision: "Allow", AuditReason: "Chosen", AuditMode: "Enforce", AuditTransition: "Acquire", AuditClaimant: "sched-a",
			AuditChosen: "sched-a", AuditCriterion: "OldestCandidate", AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "not chosen", op: admissionv1.Create, new: testLease("sched-b_1", 1), attempts: 1,
			message: "lease kube-system/kube-scheduler: candidate sched-b is not chosen: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane",
			audit: map[string]string{
				AuditDecision: "Deny", AuditReason: "NotChosen", AuditMode: "Enforce", AuditTransition: "Acquire", AuditClaimant: "sched-b",
				AuditChosen: "sched-a", AuditCriterion: "OldestCandidate", AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "not chosen in dry-run", op: admissionv1.Create, new: testLease("sched-b_1", 1), edit: []func(*candidates.Ballot){dryRun}, attempts: 1,
			audit: map[string]string{
				AuditDecision: "Deny", AuditReason: "NotChosen", AuditMode: "DryRun", AuditTransition: "Acquire", AuditClaimant: "sched-b",
				AuditChosen: "sched-a", AuditCriterion: "OldestCandidate", AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "renewal", op: admissionv1.Update, old: testLease("sched-b_1", 1), new: testLease("sched-b_1", 2)},
		{name: "renewal against an order", op: admissionv1.Update, old: testLease("sched-b_1", 1, stepDown, "sched-b_1"), new: testLease("sched-b_1", 2, stepDown, "sched-b_1"),
			edit: []func(*candidates.Ballot){better}, attempts: 1, message: toldToGo, audit: steppedDown},
		{name: "renewal against an order, leaving it out", op: admissionv1.Update, old: testLease("sched-b_1", 1, stepDown, "sched-b_1"), new: testLease("sched-b_1", 2),
			edit: []func(*candidates.Ballot){better}, attempts: 1, message: toldToGo, audit: steppedDown},
		{name: "renewal against an order that nobody asks for any more", op: admissionv1.Update, old: testLease("sched-b_1", 1, stepDown, "sched-b_1"), new: testLease("sched-b_1", 2),
			attempts: 1, audit: map[string]string{AuditDecision: "Allow", AuditReason: "NoReplacement", AuditMode: "Enforce", AuditTransition: "Renew", AuditClaimant: "sched-b",
				AuditChosen: "sched-a", AuditCriterion: "OldestCandidate", AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "renewal while another one was told to go", op: admissionv1.Update, old: testLease("sched-b_1", 1, stepDown, "sched-b_0"), new: testLease("sched-b_1", 2, stepDown, "sched-b_0"),
			edit: []func(*candidates.Ballot){better}},
		{name: "label of a holder that was told to go", op: admissionv1.Update, old: testLease("sched-b_1", 1, stepDown, "sched-b_1"), new: testLease("sched-b_1", 1, stepDown, "sched-b_1", "x", "y"),
			edit: []func(*candidates.Ballot){better}},
		{name: "release against an order", op: admissionv1.Update, old: testLease("sched-b_1", 1, stepDown, "sched-b_1"), new: testLease("", 2), edit: []func(*candidates.Ballot){better}},
		{name: "coordinated by the API server", op: admissionv1.Update, old: coordinated(testLease("", 1)), new: coordinated(testLease("sched-b_1", 2))},
		{name: "the API server begins to coordinate", op: admissionv1.Create, new: coordinated(testLease("sched-b_1", 1)), user: "system:apiserver"},
		{name: "somebody claims that others coordinate", op: admissionv1.Create, new: coordinated(testLease("sched-a_1", 1)),
			message: "lease kube-system/kube-scheduler: only the API server may leave its election to another strategy, and a policy governs it; leave spec.strategy out",
			audit: map[string]string{AuditDecision: "Deny", AuditReason: "ProtectedStrategy", AuditMode: "Enforce", AuditTransition: "Acquire",
				AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "a renewal claims that others coordinate", op: admissionv1.Update, old: testLease("sched-b_1", 1), new: coordinated(testLease("sched-b_1", 2)),
			message: "lease kube-system/kube-scheduler: only the API server may leave its election to another strategy, and a policy governs it; leave spec.strategy out",
			audit: map[string]string{AuditDecision: "Deny", AuditReason: "ProtectedStrategy", AuditMode: "Enforce", AuditTransition: "Renew",
				AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "the API server coordinates from now on", op: admissionv1.Update, old: testLease("sched-b_1", 1), new: coordinated(testLease("sched-b_1", 2)), user: "system:apiserver"},
		{name: "release", op: admissionv1.Update, old: testLease("sched-b_1", 1), new: testLease("", 2)},
		{name: "delete", op: admissionv1.Delete, old: testLease("sched-b_1", 1)},
		{name: "not governed", op: admissionv1.Create, new: other, attempts: 1},
		{name: "our own write", op: admissionv1.Update, old: testLease("sched-b_1", 1), new: testLease("sched-b_1", 1, "leasewarden.dev/step-down", "x"), user: "leasewarden"},
		{name: "an attempt by our own user", op: admissionv1.Create, new: testLease("sched-b_1", 1), user: "leasewarden", attempts: 1,
			message: "lease kube-system/kube-scheduler: candidate sched-b is not chosen: sched-a is chosen by OldestEmulationVersion (v1.36.3 over v1.37.2) under ElectionPolicy kube-system/control-plane",
			audit: map[string]string{
				AuditDecision: "Deny", AuditReason: "NotChosen", AuditMode: "Enforce", AuditTransition: "Acquire", AuditClaimant: "sched-b",
				AuditChosen: "sched-a", AuditCriterion: "OldestCandidate", AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "annotation of ours", op: admissionv1.Update, old: testLease("sched-a_1", 1), new: testLease("sched-a_1", 1, "leasewarden.dev/step-down", "x"),
			message: "lease kube-system/kube-scheduler: only Leasewarden may write the annotation leasewarden.dev/step-down; leave it as it is",
			audit: map[string]string{AuditDecision: "Deny", AuditReason: "ProtectedAnnotation", AuditMode: "Enforce", AuditTransition: "Touch",
				AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
		{name: "annotation of ours in dry-run", op: admissionv1.Update, old: testLease("sched-a_1", 1), new: testLease("sched-a_1", 1, "leasewarden.dev/step-down", "x"),
			edit: []func(*candidates.Ballot){dryRun}, audit: map[string]string{AuditDecision: "Deny", AuditReason: "ProtectedAnnotation", AuditMode: "DryRun",
				AuditTransition: "Touch", AuditPolicy: "ElectionPolicy kube-system/control-plane"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, tc.edit...)
			review := review(tc.op, tc.old, tc.new)
			if tc.user != "" {
				review.Request.UserInfo.Username = tc.user
			}
			status, got := f.post(t, ValidateLeasePath, review)
			if status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
			if got.Allowed != (tc.message == "") {
				t.Errorf("allowed: got %t", got.Allowed)
			}
			if tc.message != "" && (got.Result.Code != http.StatusForbidden || got.Result.Reason != metav1.StatusReasonForbidden || got.Result.Message != tc.message) {
				t.Errorf("result: got %d %s\n%s\nwant %s", got.Result.Code, got.Result.Reason, got.Result.Message, tc.message)
			}
			if fmt.Sprint(got.AuditAnnotations) != fmt.Sprint(tc.audit) {
				t.Errorf("audit annotations:\n got %v\nwant %v", got.AuditAnnotations, tc.audit)
			}
			if len(f.attempts) != tc.attempts {
				t.Errorf("%d attempts, want %d", len(f.attempts), tc.attempts)
			}
			if len(got.Warnings) > 0 || len(got.Patch) > 0 {
				t.Errorf("warnings %q, patch %s", got.Warnings, got.Patch)
			}
		})
	}
}

func TestDryRunLeavesNoTrace(t *testing.T) {
	f := newFixture(t)
	r := review(admissionv1.Create, nil, testLease("sched-a_1", 1))
	for _, dryRun := range []bool{true, false} {
		r.Request.DryRun = ptr.To(dryRun)
		f.post(t, ValidateLeasePath, r)
	}
	if !f.attempts[0].SideEffectFree || f.attempts[1].SideEffectFree {
		t.Errorf("side-effect free: %t with dryRun, %t without", f.attempts[0].SideEffectFree, f.attempts[1].SideEffectFree)
	}
}

func TestMutating(t *testing.T) {
	huge := "sched-a_" + strings.Repeat("x", 300<<10)
	stamps := map[string]string{
		v1alpha1.ElectedAnnotation:   "sched-a_1",
		v1alpha1.ElectedByAnnotation: "ElectionPolicy kube-system/control-plane",
		v1alpha1.StrategyAnnotation:  "OldestEmulationVersion",
		v1alpha1.CriterionAnnotation: "OldestCandidate",
	}
	for _, tc := range []struct {
		name     string
		old, new *coordinationv1.Lease
		edit     []func(*candidates.Ballot)
		dryRun   bool
		want     map[string]string
	}{
		{name: "acquire", new: testLease("sched-a_1", 1), want: stamps},
		{name: "acquire with others", old: testLease("", 1), new: testLease("sched-a_1", 1, v1alpha1.StrategyAnnotation, "forged"), want: stamps},
		{name: "takeover, the same again", old: testLease("sched-b_1", 1), new: testLease("sched-a_1", 2,
			v1alpha1.ElectedAnnotation, "sched-b_1", v1alpha1.ElectedByAnnotation, stamps[v1alpha1.ElectedByAnnotation], v1alpha1.StrategyAnnotation, stamps[v1alpha1.StrategyAnnotation],
			v1alpha1.CriterionAnnotation, stamps[v1alpha1.CriterionAnnotation]), want: stamps},
		{name: "an identity that an annotation has no room for", new: testLease(huge, 1), want: map[string]string{
			v1alpha1.ElectedAnnotation: candidates.ClipIdentity(huge), v1alpha1.ElectedByAnnotation: stamps[v1alpha1.ElectedByAnnotation],
			v1alpha1.StrategyAnnotation: stamps[v1alpha1.StrategyAnnotation], v1alpha1.CriterionAnnotation: stamps[v1alpha1.CriterionAnnotation]}},
		{name: "not chosen", new: testLease("sched-b_1", 1)},
		{name: "not chosen, stamped before", old: testLease("", 1), new: testLease("sched-b_1", 2, v1alpha1.StrategyAnnotation, "x", "a", "b"), want: map[string]string{"a": "b"}},
		{name: "exempt, stamped before", old: testLease("", 1), new: testLease("sched-b_1", 2, v1alpha1.StrategyAnnotation, "x", "a", "b"),
			edit: []func(*candidates.Ballot){func(b *candidates.Ballot) { b.Exempt = true }}, want: map[string]string{"a": "b"}},
		{name: "renewal", old: testLease("sched-a_1", 1), new: testLease("sched-a_1", 2)},
		{name: "release", old: testLease("sched-a_1", 1), new: testLease("", 2)},
		{name: "policy in dry-run", new: testLease("sched-a_1", 1), edit: []func(*candidates.Ballot){withPolicy(testPolicy(mode(v1alpha1.DryRun)))}},
		{name: "all in dry-run", new: testLease("sched-a_1", 1), dryRun: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, tc.edit...)
			f.leases.DryRun = tc.dryRun
			op := admissionv1.Update
			if tc.old == nil {
				op = admissionv1.Create
			}
			r := review(op, tc.old, tc.new)
			status, got := f.post(t, MutateLeasePath, r)
			if status != http.StatusOK || !got.Allowed {
				t.Fatalf("status %d, %+v", status, got)
			}
			lease := patched(t, r.Request.Object.Raw, got.Patch)
			want := tc.want
			if want == nil {
				want = tc.new.Annotations
			}
			if fmt.Sprint(lease.Annotations) != fmt.Sprint(want) {
				t.Errorf("annotations:\n got %v\nwant %v", lease.Annotations, want)
			}
			if slices.ContainsFunc(f.attempts, func(a candidates.Attempt) bool { return !a.SideEffectFree }) {
				t.Error("the mutating half remembers the attempt")
			}
			if rejected := protectedChange(Classify(op, tc.old, lease), tc.old, lease); rejected != "" {
				t.Errorf("the validating half refuses %s", rejected)
			}
		})
	}
}

func patched(t *testing.T, object, patch []byte) *coordinationv1.Lease {
	t.Helper()
	if len(patch) > 0 {
		p, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			t.Fatal(err)
		}
		if object, err = p.Apply(object); err != nil {
			t.Fatal(err)
		}
	}
	var lease coordinationv1.Lease
	if err := json.Unmarshal(object, &lease); err != nil {
		t.Fatal(err)
	}
	return &lease
}

func TestInvalidReviews(t *testing.T) {
	good := func(edit func(*admissionv1.AdmissionReview)) string {
		r := review(admissionv1.Create, nil, testLease("sched-a_1", 1))
		edit(r)
		body, _ := json.Marshal(r)
		return string(body)
	}
	for _, tc := range []struct {
		name, method, contentType, body string
		status                          int
		reason                          string
	}{
		{name: "get", method: http.MethodGet, status: 405, reason: invalidMethod},
		{name: "content type", contentType: "text/plain", body: "{}", status: 415, reason: invalidContentType},
		{name: "no content type", contentType: " ", body: "{}", status: 415, reason: invalidContentType},
		{name: "empty", status: 400, reason: invalidMalformed},
		{name: "no JSON", body: "{", status: 400, reason: invalidMalformed},
		{name: "null", body: "null", status: 400, reason: invalidMalformed},
		{name: "other kind", body: good(func(r *admissionv1.AdmissionReview) { r.Kind = "Pod" }), status: 400, reason: invalidMalformed},
		{name: "other version", body: good(func(r *admissionv1.AdmissionReview) { r.APIVersion = "admission.k8s.io/v1beta1" }), status: 400, reason: invalidMalformed},
		{name: "no request", body: good(func(r *admissionv1.AdmissionReview) { r.Request = nil }), status: 400, reason: invalidMalformed},
		{name: "no uid", body: good(func(r *admissionv1.AdmissionReview) { r.Request.UID = "" }), status: 400, reason: invalidMalformed},
		{name: "no object", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Object.Raw = nil }), status: 400, reason: invalidMalformed},
		{name: "no old object", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Operation = admissionv1.Update }), status: 400, reason: invalidMalformed},
		{name: "object of other type", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Object.Raw = []byte(`{"spec": 1}`) }), status: 400, reason: invalidMalformed},
		{name: "object of another name", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Name = "other" }), status: 400, reason: invalidMalformed},
		{name: "object of another namespace", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Namespace = "other" }), status: 400, reason: invalidMalformed},
		{name: "not a lease", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Resource.Resource = "pods" }), status: 400, reason: invalidResource},
		{name: "other version of a lease", body: good(func(r *admissionv1.AdmissionReview) { r.Request.Kind.Version = "v1beta1" }), status: 400, reason: invalidResource},
		{name: "subresource", body: good(func(r *admissionv1.AdmissionReview) { r.Request.SubResource = "status" }), status: 400, reason: invalidResource},
		{name: "too large", body: `"` + strings.Repeat("a", MaxReviewBytes), status: 413, reason: invalidTooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			method, contentType := tc.method, tc.contentType
			if method == "" {
				method = http.MethodPost
			}
			if contentType == "" {
				contentType = "application/json; charset=utf-8"
			}
			for _, path := range []string{ValidateLeasePath, MutateLeasePath} {
				if status, answer := f.do(t, method, path, contentType, strings.NewReader(tc.body)); status != tc.status {
					t.Errorf("%s: got %d %s, want %d", path, status, answer, tc.status)
				}
			}
			if got := testutil.ToFloat64(f.leases.Metrics.invalid.WithLabelValues(tc.reason)); got != 2 {
				t.Errorf("%s counted %v times, want 2", tc.reason, got)
			}
			if len(f.attempts) > 0 {
				t.Error("it counts as an attempt")
			}
		})
	}
}

func TestLargestReviewIsRead(t *testing.T) {
	f := newFixture(t)
	lease := testLease("sched-a_1", 1, "filler", strings.Repeat("x", MaxReviewBytes-4096))
	if status, got := f.post(t, ValidateLeasePath, review(admissionv1.Create, nil, lease)); status != http.StatusOK || !got.Allowed {
		t.Errorf("status %d", status)
	}
}

// What is not the request's fault must not refuse it: an HTTP error leaves it to
// the failure policy.
func TestFailedReviews(t *testing.T) {
	for name, tc := range map[string]struct {
		ballot func(candidates.Attempt) (*candidates.Ballot, error)
		synced error
		reason string
	}{
		"not synced": {synced: fmt.Errorf("%w: pods", candidates.ErrNotSynced), reason: failureNotSynced},
		"panic":      {ballot: func(candidates.Attempt) (*candidates.Ballot, error) { panic("x") }, reason: failurePanic},
		"error":      {ballot: func(candidates.Attempt) (*candidates.Ballot, error) { return nil, io.ErrUnexpectedEOF }, reason: failureInternal},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.synced = tc.synced
			if tc.ballot != nil {
				f.ballot = tc.ballot
			}
			for _, path := range []string{ValidateLeasePath, MutateLeasePath} {
				if status, _ := f.post(t, path, review(admissionv1.Create, nil, testLease("sched-a_1", 1))); status != http.StatusInternalServerError {
					t.Errorf("%s: got %d, want 500", path, status)
				}
			}
			if got := testutil.ToFloat64(f.leases.Metrics.failures.WithLabelValues(tc.reason)); got != 2 {
				t.Errorf("%s counted %v times, want 2", tc.reason, got)
			}
		})
	}
}

func TestAnnotationRulingNeedsFilledCaches(t *testing.T) {
	f := newFixture(t)
	f.synced = candidates.ErrNotSynced
	r := review(admissionv1.Update, testLease("sched-a_1", 1), testLease("sched-a_1", 1, "leasewarden.dev/strategy", "y"))
	if status, _ := f.post(t, ValidateLeasePath, r); status != http.StatusInternalServerError {
		t.Errorf("got %d, want 500", status)
	}
}

// A candidate that is turned away tries again every other second.
func TestOneLogLinePerFinding(t *testing.T) {
	f := newFixture(t)
	for range 5 {
		f.post(t, ValidateLeasePath, review(admissionv1.Create, nil, testLease("sched-b_1", 1)))
		f.post(t, ValidateLeasePath, review(admissionv1.Create, nil, testLease("sched-c_1", 1)))
	}
	if len(*f.logs) != 2 {
		t.Errorf("%d lines, want 2: %q", len(*f.logs), *f.logs)
	}
	f.ballot = byHostname(func(b *candidates.Ballot) { b.State.Candidates[0].Unavailable = "Pod is terminating" })
	f.post(t, ValidateLeasePath, review(admissionv1.Create, nil, testLease("sched-b_1", 1)))
	if len(*f.logs) != 3 {
		t.Errorf("the change of the chosen candidate is not logged: %q", *f.logs)
	}
	if got := testutil.ToFloat64(f.leases.Metrics.rulings.WithLabelValues("kube-system", "", "Acquire", "Deny", "NotChosen", "Enforce")); got != 11 {
		t.Errorf("counted %v rulings, want 11", got)
	}
}

// A holder that may stay renews every other second.
func TestOneLogLineForAHolderThatMayStay(t *testing.T) {
	f := newFixture(t)
	for i := range 5 {
		f.post(t, ValidateLeasePath, review(admissionv1.Update, testLease("sched-b_1", i, v1alpha1.StepDownAnnotation, "sched-b_1"), testLease("sched-b_1", i+1)))
	}
	if len(*f.logs) != 1 {
		t.Errorf("%d lines, want 1: %q", len(*f.logs), *f.logs)
	}
}

func TestPolicies(t *testing.T) {
	f := newFixture(t)
	for _, tc := range []struct {
		name, kind, object, want string
		status                   int
	}{
		{name: "good", kind: "ElectionPolicy", object: `{"spec":{"leases":{"names":["a"]},"strategy":{"name":"OldestEmulationVersion"}}}`, status: 200},
		{name: "unknown strategy", kind: "ElectionPolicy", object: `{"spec":{"leases":{"names":["a"]},"strategy":{"name":"Nope"}}}`, want: "spec.strategy.name", status: 200},
		{name: "no lease", kind: "ClusterElectionPolicy", object: `{"spec":{"leases":{"names":[]},"strategy":{"name":"OldestEmulationVersion"}}}`, want: "spec.leases.names", status: 200},
		{name: "broken CEL", kind: "ElectionPolicy", object: `{"spec":{"leases":{"names":["a"]},"strategy":{"name":"Custom","scores":[{"cel":"candidate."}]}}}`, want: "spec.strategy.scores[0].cel", status: 200},
		{name: "other kind", kind: "Election", object: `{}`, status: 400},
		{name: "no object", kind: "ElectionPolicy", object: "", status: 400},
		{name: "other type", kind: "ElectionPolicy", object: `{"spec":1}`, status: 200, want: "cannot be read"},
		{name: "no duration", kind: "ClusterElectionPolicy", object: `{"spec":{"acquireDeadline":"banana"}}`, status: 200, want: "invalid duration"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := review(admissionv1.Create, nil, nil)
			r.Request.Kind = policyKind(tc.kind)
			if tc.object != "" {
				r.Request.Object.Raw = []byte(tc.object)
			}
			status, got := f.post(t, ValidatePolicyPath, r)
			if status != tc.status {
				t.Fatalf("got %d, want %d", status, tc.status)
			}
			if status != http.StatusOK {
				return
			}
			if got.Allowed != (tc.want == "") {
				t.Errorf("allowed: %t", got.Allowed)
			}
			if tc.want != "" && (got.Result.Code < http.StatusBadRequest || !strings.Contains(got.Result.Message, tc.want)) {
				t.Errorf("got %d %s, want %s", got.Result.Code, got.Result.Message, tc.want)
			}
		})
	}
}
