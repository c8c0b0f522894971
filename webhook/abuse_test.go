package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// send posts a body of that length, as far as the server is told.
func (f *fixture) send(t testing.TB, body io.Reader, length int64) (status int, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.server.URL+ValidateLeasePath, body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = length
	request.Header.Set("Content-Type", "application/json")
	response, err := f.server.Client().Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// stalled is a body that begins and never ends.
func stalled(t testing.TB) io.Reader {
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, "{") }()
	t.Cleanup(func() { _ = w.CloseWithError(io.ErrUnexpectedEOF) })
	return r
}

// A body that does not arrive is not waited for.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP2 %t", http2), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			f := newFixture(t)
			f.restart(http2)
			began := time.Now()
			status, err := f.send(t, stalled(t), 1000)
			if err == nil { // or else the connection is at its end
				g.Expect(status).To(Equal(http.StatusBadRequest))
			}
			g.Expect(time.Since(began)).To(BeNumerically("~", bodyTimeout, 3*time.Second))
			g.Expect(testutil.ToFloat64(f.leases.Metrics.invalid.WithLabelValues(invalidMalformed))).To(BeEquivalentTo(1))
		})
	}
}

// restart serves the same over another protocol.
func (f *fixture) restart(http2 bool) {
	handler := f.server.Config.Handler
	f.server.Close()
	f.server = httptest.NewUnstartedServer(handler)
	f.server.EnableHTTP2 = http2
	f.server.StartTLS()
}

// Bodies that do not arrive, or of huge Leases, take no room from others.
func TestHugeAndSlowBodiesDoNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	f := newFixture(t)
	f.restart(true)
	t.Cleanup(func() { f.server.Close() })
	for range 3 * maxLarge {
		for _, length := range []int64{MaxReviewBytes, -1} {
			body := stalled(t)
			go func() { _, _ = f.send(t, body, length) }()
		}
	}
	g.Eventually(func() float64 { return testutil.ToFloat64(f.leases.Metrics.failures.WithLabelValues(failureBusy)) }, 10*time.Second).
		Should(BeNumerically(">", 0), "what there is no room for is turned away")
	began := time.Now()
	status, got := f.post(t, ValidateLeasePath, review(admissionv1.Create, nil, testLease("sched-a_1", 1)))
	g.Expect(status).To(Equal(http.StatusOK))
	g.Expect(got.Allowed).To(BeTrue())
	g.Expect(time.Since(began)).To(BeNumerically("<", bodyTimeout), "it did not wait for them")
}

// However many huge reviews come at once, a few are in hand.
func TestHugeReviewsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	f := newFixture(t)
	waiting := &patient{goOn: make(chan struct{})}
	f.leases.Elections, f.leases.Log = waiting, logr.Discard()
	body, err := json.Marshal(review(admissionv1.Create, nil, testLease("sched-a_1", 1, "filler", strings.Repeat("x", smallReview))))
	g.Expect(err).NotTo(HaveOccurred())
	const sent = 5 * maxLarge
	statuses := make(chan int, sent)
	for range sent {
		go func() {
			status, err := f.send(t, bytes.NewReader(body), int64(len(body)))
			if err != nil {
				status = 0
			}
			statuses <- status
		}()
	}
	for range sent - maxLarge {
		g.Eventually(statuses, 20*time.Second).Should(Receive(Equal(http.StatusServiceUnavailable)))
	}
	close(waiting.goOn)
	for range maxLarge {
		g.Eventually(statuses, 20*time.Second).Should(Receive(Equal(http.StatusOK)))
	}
	g.Expect(waiting.asked.Load()).To(BeEquivalentTo(maxLarge))
}

// patient are elections that keep whoever asks waiting.
type patient struct {
	fakeElections
	asked atomic.Int32
	goOn  chan struct{}
}

func (p *patient) Attempt(candidates.Attempt) (*candidates.Ballot, error) {
	p.asked.Add(1)
	<-p.goOn
	return testBallot("sched-a"), nil
}

// JSON that is all brackets takes neither the stack nor long.
func TestDeeplyNestedBody(t *testing.T) {
	f := newFixture(t)
	for name, unit := range map[string]string{"lists": "[", "objects": `{"a":`} {
		for _, around := range []string{"", `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"a","object":`} {
			began := time.Now()
			body := around + strings.Repeat(unit, (MaxReviewBytes-len(around))/len(unit))
			if status, answer := f.do(t, http.MethodPost, ValidateLeasePath, "application/json", strings.NewReader(body)); status != http.StatusBadRequest {
				t.Errorf("%s: got %d %s", name, status, answer)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s took %s", name, took)
			}
		}
	}
}

// manyAnnotations are nearly as many as the API server takes: 255 of 256 KiB of
// keys and values.
func manyAnnotations() []string {
	var all []string
	for i := range 255 << 10 / 10 {
		all = append(all, fmt.Sprintf("k%06d", i), "\x1b\n<")
	}
	return all
}

// A Lease with all the annotations that there can be is ruled on like any other,
// and none of them is repeated.
func TestLeaseWithManyAnnotations(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	annotated := manyAnnotations()
	for holder, allowed := range map[string]bool{"sched-a_1": true, "sched-b_1": false} {
		r := review(admissionv1.Update, testLease("", 1, annotated...), testLease(holder, 2, annotated...))
		status, got := f.post(t, ValidateLeasePath, r)
		g.Expect(status).To(Equal(http.StatusOK))
		g.Expect(got.Allowed).To(Equal(allowed))
		answer, err := json.Marshal(got)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(answer)).To(BeNumerically("<", 2048))

		_, stamped := f.post(t, MutateLeasePath, r)
		g.Expect(len(stamped.Patch)).To(BeNumerically("<", 1024))
		if allowed {
			lease := patched(t, r.Request.Object.Raw, stamped.Patch)
			g.Expect(len(lease.Annotations)).To(Equal(len(annotated)/2 + len(stamps)))
		}
	}
	for _, line := range *f.logs {
		g.Expect(len(line)).To(BeNumerically("<", 2048))
	}
}

// A Lease whose annotations are as large as they may be can be acquired with us
// as without: what we write on it must not make it too large.
func TestStampsDoNotMakeALeaseTooLarge(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	acquire := func(annotations ...string) map[string]string {
		r := review(admissionv1.Update, testLease("", 1), testLease("sched-a_1", 2, annotations...))
		_, got := f.post(t, MutateLeasePath, r)
		return patched(t, r.Request.Object.Raw, got.Patch).Annotations
	}
	stamped, need := acquire(), 0
	for key, value := range stamped {
		need += len(key) + len(value)
	}
	for _, free := range []int{0, 1, need - 1, need, need + 1} {
		filler := strings.Repeat("x", validation.TotalAnnotationSizeLimitB-len("filler")-free)
		got := acquire("filler", filler)
		g.Expect(validation.ValidateAnnotationsSize(got)).To(Succeed(), "with %d bytes free", free)
		delete(got, "filler")
		if free < need {
			g.Expect(got).To(BeEmpty(), "with %d bytes free", free)
		} else {
			g.Expect(got).To(Equal(stamped), "with %d bytes free", free)
		}
	}
}

// hostile would end a line, clear a terminal, reverse what follows, end an HTML
// element and pass for another field.
const hostile = "v1\n\r\x1b[2J\x00\u202e</b>\" level=error \u2028"

// Whatever Pods, Candidates, Leases and users are called and annotated with comes
// out of us in printable ASCII, in one line and cut.
func TestTextIsNotInjected(t *testing.T) {
	objects := fuzzedObjects()
	objects.Add(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "sched-0", UID: "uid-0",
			Labels: map[string]string{"app": "sched"}, Annotations: map[string]string{
				"version": hostile + strings.Repeat("x", 1<<16), v1alpha1.PriorityAnnotation: hostile, v1alpha1.PriorityUntilAnnotation: hostile,
			}},
		Spec: corev1.PodSpec{NodeName: hostile}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	})
	objects.Add(&v1alpha1.Candidate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "vm"},
		Spec:       v1alpha1.CandidateSpec{LeaseName: "kube-scheduler", Identity: hostile, BinaryVersion: hostile, Node: hostile},
	})
	var logs []string
	log := funcr.New(func(_, line string) { logs = append(logs, line) }, funcr.Options{Verbosity: 9})
	leases := &Leases{Elections: replayed{candidates.NewReplay(objects)}, Username: "leasewarden", Metrics: NewMetrics(prometheus.NewRegistry()), Log: log}
	validating := leases.Validating()
	var told []string
	for _, identity := range []string{hostile, "sched-0_" + hostile, "sched-b_" + hostile, "sched-0"} {
		for _, name := range []string{"kube-scheduler", "rehearsed", hostile} {
			r := review(admissionv1.Create, nil, testLease(identity, 1, v1alpha1.StepDownAnnotation, ""))
			if identity != hostile {
				r = review(admissionv1.Update, testLease(hostile, 1), testLease(identity, 1))
			}
			r.Request.UserInfo.Username = hostile
			body, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			body = bytes.ReplaceAll(body, []byte(`"kube-scheduler"`), quotedJSON(t, name))
			_, got := answer(t, validating, body)
			told = append(told, got.Warnings...)
			if got.Result != nil {
				told = append(told, got.Result.Message)
			}
			for _, value := range got.AuditAnnotations {
				told = append(told, value)
			}
		}
	}
	if len(told) < 10 || len(logs) < 3 {
		t.Errorf("only %d messages and %d lines of the log", len(told), len(logs))
	}
	for _, text := range append(told, logs...) {
		if !printable(text) || len(text) > 4096 {
			t.Errorf("%d bytes: %q", len(text), text)
		}
	}
}

func quotedJSON(t *testing.T, s string) []byte {
	t.Helper()
	quoted, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return quoted
}
