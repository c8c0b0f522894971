package webhook

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// replayed are elections as a cluster has them, without the cluster.
type replayed struct{ *candidates.Replay }

func (replayed) Synced() error { return nil }

// breakGlass is exempt from the policies of fuzzedObjects.
const breakGlass = "break-glass"

// fuzzedObjects are the Pods sched-a (v1.36.3) and sched-b (v1.37.2), and
// policies for the Leases kube-scheduler, enforced, and rehearsed, in dry-run.
// sched-a is chosen for both.
func fuzzedObjects() *candidates.ObjectSet {
	set := candidates.NewObjectSet()
	for name, mode := range map[string]v1alpha1.Mode{"kube-scheduler": v1alpha1.Enforce, "rehearsed": v1alpha1.DryRun} {
		set.Add(&v1alpha1.ElectionPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name},
			Spec: v1alpha1.ElectionPolicySpec{
				Leases: v1alpha1.LeaseSelection{Names: []string{name}},
				Mode:   mode,
				Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
					Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "sched"}},
					Version:  &v1alpha1.VersionSource{FromAnnotation: "version"},
				}},
				Strategy:   v1alpha1.Strategy{Name: v1alpha1.OldestEmulationVersion},
				Preemption: v1alpha1.Preemption{When: v1alpha1.PreemptForBetter},
				Exempt:     &v1alpha1.Exemption{Users: []string{breakGlass}},
			},
		})
	}
	for name, version := range map[string]string{"sched-a": "v1.36.3", "sched-b": "v1.37.2"} {
		set.Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now),
				Labels: map[string]string{"app": "sched"}, Annotations: map[string]string{"version": version}},
			Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "sched:1"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	return set
}

// fuzzed are the handlers, with elections that remember nothing.
type fuzzed struct {
	validating, mutating, policies http.Handler
}

func newFuzzed(objects *candidates.ObjectSet, metrics *Metrics) fuzzed {
	leases := &Leases{
		Elections: replayed{candidates.NewReplay(objects)}, Username: "leasewarden", Metrics: metrics,
		Log: logr.Discard(), Clock: clocktesting.NewFakePassiveClock(now),
	}
	return fuzzed{leases.Validating(), leases.Mutating(), (&Policies{Metrics: metrics, Log: logr.Discard()}).Validating()}
}

// maxAnswer bounds the answer to a review, whatever is in it: the message, its
// warning and the audit annotations, each with a few strings that are cut.
const maxAnswer = 64 << 10

// answer has a handler answer a body. It returns nil for a proper refusal to
// answer, and fails the test for anything but that and an AdmissionReview that
// answers the request.
func answer(t *testing.T, h http.Handler, body []byte) (*admissionv1.AdmissionRequest, *admissionv1.AdmissionResponse) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	if recorder.Body.Len() > maxAnswer {
		t.Errorf("an answer of %d bytes", recorder.Body.Len())
	}
	switch recorder.Code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return nil, nil
	case http.StatusOK:
	default:
		t.Fatalf("status %d: %s", recorder.Code, recorder.Body)
	}
	var asked, got admissionv1.AdmissionReview
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &asked); err != nil || asked.Request == nil {
		t.Fatalf("an answer to what is no review: %v: %q", err, body)
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil || got.GroupVersionKind() != reviewKind || got.Response == nil {
		t.Fatalf("%v: %s", err, recorder.Body)
	}
	if got.Response.UID != asked.Request.UID || got.Response.UID == "" {
		t.Errorf("the answer is to %q, the request is %q", got.Response.UID, asked.Request.UID)
	}
	return asked.Request, got.Response
}

// write checks what the two halves say of a write against what is plain to see
// in it.
func (f fuzzed) write(t *testing.T, body []byte) {
	t.Helper()
	request, ruling := answer(t, f.validating, body)
	_, stamped := answer(t, f.mutating, body)
	if (ruling == nil) != (stamped == nil) {
		t.Fatalf("one half answers, the other does not: %q", body)
	}
	if ruling == nil {
		return
	}
	if !stamped.Allowed || !onlyStamps(stamped.Patch) {
		t.Errorf("the mutating half allows: %t, with the patch %s", stamped.Allowed, stamped.Patch)
	}
	w := plainWrite{request: request, old: plainLease(request.OldObject.Raw, request.Operation != admissionv1.Create), new: plainLease(request.Object.Raw, request.Operation != admissionv1.Delete)}
	switch {
	case ruling.Allowed && !w.mayPass():
		t.Errorf("admitted, with %v: %s", ruling.AuditAnnotations, body)
	case !ruling.Allowed && w.mustPass():
		t.Errorf("refused, with %s: %s", ruling.Result.Message, body)
	case !ruling.Allowed && !printable(ruling.Result.Message):
		t.Errorf("refused with %q", ruling.Result.Message)
	}
	if _, patched := patchedKeys(stamped.Patch)[v1alpha1.ElectedAnnotation]; patched && !w.mayPass() {
		t.Errorf("stamped as elected: %s", body)
	}
}

// plainWrite says of a write, slowly and without the picker, what must hold for
// it.
type plainWrite struct {
	request  *admissionv1.AdmissionRequest
	old, new *coordinationv1.Lease
}

func plainLease(raw []byte, wanted bool) *coordinationv1.Lease {
	if !wanted {
		return nil
	}
	var l coordinationv1.Lease
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &l); err != nil {
		return nil
	}
	return &l
}

func (w plainWrite) isEnforced() bool {
	return w.new != nil && w.new.Namespace == "kube-system" && w.new.Name == "kube-scheduler"
}

func (w plainWrite) changesHands() bool { return holder(w.new) != "" && holder(w.new) != holder(w.old) }

func foreignStrategy(l *coordinationv1.Lease) bool {
	return l != nil && l.Spec.Strategy != nil && *l.Spec.Strategy != "" && !strings.HasPrefix(string(*l.Spec.Strategy), "leasewarden.dev/")
}

// isNobodysBusiness reports whether no rule of ours applies.
func (w plainWrite) isNobodysBusiness() bool {
	return !w.isEnforced() || w.request.UserInfo.Username == breakGlass || foreignStrategy(w.old) ||
		w.request.UserInfo.Username == "system:apiserver" && foreignStrategy(w.new)
}

// mayPass reports whether the write may be admitted: whoever has the Lease
// after it is who had it, or sched-a when no term runs.
func (w plainWrite) mayPass() bool {
	if w.isNobodysBusiness() || !w.changesHands() {
		return true
	}
	return !w.termRuns() && (w.provesToBe("sched-a") || !w.provesAnything() && names("sched-a", holder(w.new)))
}

// mustPass reports whether the write must be admitted: it is none of our
// business, or a renewal or release that writes nothing of ours and that nobody
// forbade, or the chosen one that takes a vacant Lease.
func (w plainWrite) mustPass() bool {
	if w.isNobodysBusiness() {
		return true
	}
	if w.writesOurs() || foreignStrategy(w.new) {
		return false
	}
	switch {
	case holder(w.new) == "":
		return true
	case !w.changesHands():
		return w.old.Annotations[v1alpha1.StepDownAnnotation] != holder(w.old)
	}
	return holder(w.old) == "" && names("sched-a", holder(w.new)) && (w.provesToBe("sched-a") || !w.provesAnything())
}

// writesOurs reports whether any annotation of ours is another one afterwards.
func (w plainWrite) writesOurs() bool {
	var before map[string]string
	if w.old != nil {
		before = w.old.Annotations
	}
	return slices.ContainsFunc(v1alpha1.LeaseAnnotations, func(key string) bool {
		was, had := before[key]
		is, has := w.new.Annotations[key]
		return was != is || had != has
	})
}

// termRuns reports whether the last holder may still count itself the leader.
func (w plainWrite) termRuns() bool {
	if holder(w.old) == "" || w.old.Spec.RenewTime == nil || w.old.Spec.LeaseDurationSeconds == nil {
		return false
	}
	lasts := time.Duration(*w.old.Spec.LeaseDurationSeconds) * time.Second
	return lasts > 0 && !w.old.Spec.RenewTime.Time.IsZero() && w.old.Spec.RenewTime.Add(lasts).After(now)
}

func (w plainWrite) extra(key string) string {
	if v := w.request.UserInfo.Extra["authentication.kubernetes.io/"+key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// provesAnything reports whether the token is bound to some Pod.
func (w plainWrite) provesAnything() bool {
	_, _, err := serviceaccount.SplitUsername(w.request.UserInfo.Username)
	return err == nil && w.extra("pod-name") != "" && w.extra("pod-uid") != ""
}

func (w plainWrite) provesToBe(pod string) bool {
	namespace, _, err := serviceaccount.SplitUsername(w.request.UserInfo.Username)
	return err == nil && namespace == "kube-system" && w.extra("pod-name") == pod && w.extra("pod-uid") == "uid-"+pod
}

// names reports whether a holder identity is that Pod's.
func names(pod, identity string) bool {
	return identity == pod || strings.HasPrefix(identity, pod+"_")
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// patchedKeys are the annotations that a patch adds or changes.
func patchedKeys(patch []byte) map[string]bool {
	var operations []struct {
		Op, Path string
		Value    any
	}
	if len(patch) > 0 && json.Unmarshal(patch, &operations) != nil {
		return nil
	}
	keys := map[string]bool{}
	for _, o := range operations {
		if all, ok := o.Value.(map[string]any); ok && o.Path == "/metadata/annotations" {
			for key := range all {
				keys[key] = true
			}
			continue
		}
		if key, ok := strings.CutPrefix(o.Path, "/metadata/annotations/"); ok && o.Op == "add" {
			keys[strings.ReplaceAll(key, "~1", "/")] = true
		}
	}
	return keys
}

// onlyStamps reports whether a patch touches nothing but the stamps.
func onlyStamps(patch []byte) bool {
	var operations []struct {
		Path  string
		Value any
	}
	if len(patch) == 0 {
		return true
	}
	if json.Unmarshal(patch, &operations) != nil {
		return false
	}
	for _, o := range operations {
		touched := []string{strings.ReplaceAll(strings.TrimPrefix(o.Path, "/metadata/annotations/"), "~1", "/")}
		if all, ok := o.Value.(map[string]any); ok && o.Path == "/metadata/annotations" {
			touched = slices.Collect(maps.Keys(all))
		}
		if slices.ContainsFunc(touched, func(key string) bool { return !slices.Contains(stamps, key) }) {
			return false
		}
	}
	return true
}

// FuzzHandler checks that no body makes a handler panic, admit what must not be
// admitted, refuse what must not be refused, or answer with anything but an
// AdmissionReview that answers the request, or a proper error.
func FuzzHandler(f *testing.F) {
	for _, r := range []*admissionv1.AdmissionReview{
		review(admissionv1.Create, nil, testLease("sched-a_1", 1)),
		review(admissionv1.Update, testLease("sched-a_1", 1), testLease("sched-b_1", 2, "a", "b")),
		review(admissionv1.Update, testLease("sched-a_1", 1, "leasewarden.dev/x", "y"), testLease("sched-a_1", 2)),
		review(admissionv1.Delete, testLease("sched-a_1", 1), nil),
	} {
		body, _ := json.Marshal(r)
		f.Add(body)
	}
	f.Add([]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"a","kind":{"group":"leasewarden.dev","version":"v1alpha1","kind":"ElectionPolicy"},"object":{"spec":{}}}}`))
	f.Add([]byte(`{"request":null}`))
	f.Add([]byte(`[]`))
	objects, metrics := fuzzedObjects(), NewMetrics(prometheus.NewRegistry())
	f.Fuzz(func(t *testing.T, body []byte) {
		h := newFuzzed(objects, metrics)
		h.write(t, body)
		if request, got := answer(t, h.policies, body); got != nil && got.Allowed {
			if policy, err := compilePolicy(request); err != nil || len(policy.Errors) > 0 {
				t.Errorf("a policy is allowed with %v", err)
			}
		}
	})
}

// FuzzWrite checks the same for what is well formed, so that the fuzzer gets to
// the rulings.
func FuzzWrite(f *testing.F) {
	type seed struct {
		lease, before, after, order, annotation, strategyBefore, strategyAfter, user, pod, uid string
		age, duration                                                                          int
	}
	const account = "system:serviceaccount:kube-system:sched"
	for _, s := range []seed{
		{lease: "kube-scheduler", before: "-", after: "sched-a_1"},
		{lease: "kube-scheduler", before: "-", after: "sched-b_1", user: breakGlass},
		{lease: "kube-scheduler", after: "sched-a", user: account, pod: "sched-a", uid: "uid-sched-a"},
		{lease: "kube-scheduler", after: "sched-a_1", user: account, pod: "sched-b", uid: "uid-sched-b"},
		{lease: "kube-scheduler", after: "other", user: account, pod: "sched-a", uid: "uid-sched-a"},
		{lease: "kube-scheduler", before: "sched-b_1", after: "sched-a_1", age: 14, duration: 15},
		{lease: "kube-scheduler", before: "sched-b_1", after: "sched-a_1", age: 16, duration: 15},
		{lease: "kube-scheduler", before: "sched-b_1", after: "sched-b_1", order: "sched-b_1", age: 1, duration: 15},
		{lease: "kube-scheduler", before: "sched-b_1", after: "sched-b_1", annotation: "x", age: 1, duration: 15},
		{lease: "kube-scheduler", before: "sched-b_1", order: "sched-b_1", age: 1, duration: 15},
		{lease: "kube-scheduler", before: "-", after: "sched-b_1", strategyAfter: "x", user: "system:apiserver"},
		{lease: "kube-scheduler", before: "sched-a_1", after: "sched-b_1", strategyBefore: "x", strategyAfter: "x"},
		{lease: "kube-scheduler", before: "-", after: "sched-a_1", strategyAfter: "leasewarden.dev/a"},
		{lease: "kube-scheduler", before: "-", after: "\x1b[2J\n\u202e"},
		{lease: "rehearsed", before: "-", after: "sched-b_1"},
		{lease: "other", before: "-", after: "sched-b_1"},
	} {
		f.Add(s.lease, s.before, s.after, s.order, s.annotation, s.strategyBefore, s.strategyAfter, s.user, s.pod, s.uid, s.age, s.duration)
	}
	objects, metrics := fuzzedObjects(), NewMetrics(prometheus.NewRegistry())
	f.Fuzz(func(t *testing.T, lease, before, after, order, annotation, strategyBefore, strategyAfter, user, pod, uid string, age, duration int) {
		age, duration = age%1e6, duration%1e6
		old := fuzzedLease(lease, before, strategyBefore, order, age, duration)
		fresh := fuzzedLease(lease, after, strategyAfter, annotation, 0, duration)
		op := admissionv1.Update
		if before == "-" {
			op, old = admissionv1.Create, nil
		}
		r := review(op, old, fresh)
		r.Request.UserInfo = authenticationv1.UserInfo{Username: user, Extra: map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name": {pod}, "authentication.kubernetes.io/pod-uid": {uid},
		}}
		body, err := json.Marshal(r)
		if err != nil {
			return // not in JSON
		}
		newFuzzed(objects, metrics).write(t, body)
	})
}

// fuzzedLease is a Lease that was renewed age seconds ago.
func fuzzedLease(name, holder, strategy, order string, age, duration int) *coordinationv1.Lease {
	l := testLease(holder, 0)
	l.Name = name
	l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now.Add(-time.Duration(age) * time.Second)))
	l.Spec.LeaseDurationSeconds = ptr.To(int32(duration))
	if strategy != "" {
		l.Spec.Strategy = ptr.To(coordinationv1.CoordinatedLeaseStrategy(strategy))
	}
	if order != "" {
		metav1.SetMetaDataAnnotation(&l.ObjectMeta, v1alpha1.StepDownAnnotation, order)
	}
	return l
}

// FuzzClassify checks a transition against what is plain to see.
func FuzzClassify(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"a", "a"}, {"a", "b"}, {"a", ""}, {"", "a"}, {nobody, nobody}, {nobody, ""}, {"a", nobody}} {
		for existed := range 2 {
			f.Add(seed[0], seed[1], 1, 2, existed == 1, "UPDATE")
			f.Add(seed[0], seed[1], 1, 1, existed == 1, "CREATE")
			f.Add(seed[0], seed[1], 1, 1, existed == 1, "DELETE")
		}
	}
	f.Fuzz(func(t *testing.T, before, after string, renewedBefore, renewedAfter int, existed bool, op string) {
		renewedBefore, renewedAfter = renewedBefore%1e9, renewedAfter%1e9
		old, new := testLease(before, renewedBefore), testLease(after, renewedAfter)
		was := before
		if !existed {
			old, was = nil, nobody
		}
		if op == "DELETE" {
			new = nil
		}
		want := plainTransition(was, after, op, max(renewedBefore, 0) == max(renewedAfter, 0))
		got := Classify(admissionv1.Operation(op), old, new)
		if got != want {
			t.Errorf("%s of %q (existed: %t) to %q is %s, want %s", op, before, existed, after, got, want)
		}
		if got.Contests() != (want == Acquire || want == Takeover) {
			t.Errorf("%s contests: %t", got, got.Contests())
		}
	})
}

// plainTransition is the table of transitions, as the guide has it.
func plainTransition(was, is, op string, same bool) Transition {
	held, holds := was != "" && was != nobody, is != "" && is != nobody
	switch {
	case op == "DELETE":
		return Delete
	case !held && !holds:
		return Touch
	case !held:
		return Acquire
	case !holds:
		return Release
	case was != is:
		return Takeover
	case same:
		return Touch
	}
	return Renew
}
