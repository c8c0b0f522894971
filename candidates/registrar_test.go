package candidates

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// transport answers in the process, so that a synctest bubble's time can pass.
type transport func(*http.Request) (code int, body any)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := f(r)
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(raw))), Request: r}, nil
}

func notFound() (int, any) {
	return http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
		Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}
}

// runRegistrar runs a registrar in a synctest bubble.
func runRegistrar(t *testing.T, answer transport, test func(r *registrar)) {
	synctest.Test(t, func(t *testing.T) {
		client, err := newOwnClient(&rest.Config{Host: "http://fake", Transport: answer, QPS: -1})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r := newRegistrar(client, clock.RealClock{}, logr.Discard())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx)
		}()
		test(r)
		cancel()
		<-done
		// The queue's own goroutines end on a timer.
		time.Sleep(time.Minute)
	})
}

func TestRegistrarWritesSeldom(t *testing.T) {
	g := NewWithT(t)
	writes := map[string]int{}
	exists := false
	answer := func(r *http.Request) (int, any) {
		writes[r.Method]++
		if r.Method == http.MethodPatch && !exists {
			return notFound()
		}
		exists = true
		return http.StatusOK, candidate("vm-1")
	}
	runRegistrar(t, answer, func(r *registrar) {
		for range 300 { // ten minutes of an elector that tries every 2 s
			now := time.Now()
			r.enqueue(webKey, registration{name: "vm-1", identity: "vm-1", since: now, last: now}, renewEvery)
			time.Sleep(2 * time.Second)
		}
	})
	g.Expect(writes[http.MethodPost]).To(Equal(1))
	g.Expect(writes[http.MethodPatch]).To(Equal(10), "once a minute, the first of which finds nothing")
}

func TestRegistrarTriesAgainAndGivesUp(t *testing.T) {
	g := NewWithT(t)
	var times []time.Time
	answer := func(*http.Request) (int, any) {
		times = append(times, time.Now())
		return http.StatusForbidden, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
			Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
	}
	runRegistrar(t, answer, func(r *registrar) {
		now := time.Now()
		r.enqueue(webKey, registration{name: "vm-1", identity: "vm-1", since: now, last: now}, renewEvery)
		time.Sleep(time.Hour)
		synctest.Wait()
		g.Expect(times).To(HaveLen(maxRetries + 1))
		for i := range times[1:] {
			g.Expect(times[i+1].Sub(times[i])).To(BeNumerically(">=", writeEvery))
		}
		now = time.Now()
		r.enqueue(webKey, registration{name: "vm-1", identity: "vm-1", since: now, last: now}, renewEvery)
		synctest.Wait()
		g.Expect(times).To(HaveLen(maxRetries+2), "the next attempt brings it back")
	})
}

// Attempts that go on while writes fail do not make them come any sooner.
func TestRegistrarFailsSeldom(t *testing.T) {
	g := NewWithT(t)
	var times []time.Time
	answer := func(*http.Request) (int, any) {
		times = append(times, time.Now())
		return http.StatusInternalServerError, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
			Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError}
	}
	runRegistrar(t, answer, func(r *registrar) {
		for range 3000 { // five minutes of an elector that tries every 100 ms
			now := time.Now()
			r.enqueue(webKey, registration{name: "vm-1", identity: "vm-1", since: now, last: now}, writeEvery)
			time.Sleep(100 * time.Millisecond)
		}
	})
	g.Expect(len(times)).To(BeNumerically(">", maxRetries), "it is tried again and again")
	for i := range times[1:] {
		g.Expect(times[i+1].Sub(times[i])).To(BeNumerically(">=", writeEvery))
	}
}

func TestRegistrarIsBounded(t *testing.T) {
	g := NewWithT(t)
	r := newRegistrar(nil, clock.RealClock{}, logr.Discard())
	for i := range 2 * maxPending {
		r.enqueue(webKey, registration{name: fmt.Sprint(i), last: start}, renewEvery)
	}
	g.Expect(r.pending).To(HaveLen(maxPending))
	r.queue.ShutDown()
}

func register(s *v1alpha1.ElectionPolicySpec) {
	s.Candidates.Unregistered = v1alpha1.RegisterUnregistered
}

func TestUnregisteredIdentitiesBecomeCandidates(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.put(t, policies, electionPolicy("p", register))
	f.put(t, "v1/pods", webPod("web-1"))
	first, second := startCache(t, config), startCache(t, config)
	eventually(t, viewNames(first)).Should(Equal([]string{"web-1"}))
	eventually(t, second.Synced).Should(Succeed())
	name := registrationName(webKey, "vm-1_a")
	attempt := Attempt{New: renewedAt("vm-1_a", time.Now()), Time: time.Now(), User: boundTo("elsewhere", "agent", "uid")}

	quiet := attempt
	quiet.SideEffectFree = true
	b, err := first.Attempt(quiet)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Claimant).To(Equal(Identification{Candidate: name}))
	g.Expect(viewNames(first)()).To(Equal([]string{"web-1"}), "it left no trace")

	b, err = first.Attempt(attempt)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Claimant).To(Equal(Identification{Candidate: name}))
	g.Expect(b.State.Candidates).To(HaveLen(2))
	g.Expect(b.State.Candidates[1].LastAttempt).To(Equal(attempt.Time))
	eventually(t, func() []string { return f.names(ownCandidates) }).Should(Equal([]string{"ns/" + name}))
	eventually(t, func() []*v1alpha1.Candidate { return second.Candidates(webKey) }).Should(HaveLen(1), "the other replica knows it")
	o := second.Candidates(webKey)[0]
	g.Expect(o.Spec.Identity).To(Equal("vm-1_a"))
	g.Expect(o.Spec.Node).To(Equal("node-1"))
	g.Expect(o.Spec.Origin).To(Equal(v1alpha1.OriginAttempt))

	b, err = first.Attempt(attempt)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.State.Candidates).To(HaveLen(2), "once it is written it is still one")
	g.Expect(b.State.Candidates[1].Name).To(Equal(name))

	claim := attempt
	claim.New = renewedAt("web-1_b", time.Now())
	b, err = first.Attempt(claim)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Claimant.Problem).To(Equal("claims Pod web-1, but its token is bound to Pod elsewhere/agent"))
	g.Expect(b.State.Candidates).To(HaveLen(2), "a lie registers nobody")

	claim.New = renewedAt(strings.Repeat("x", MaxIdentityBytes+1), time.Now())
	b, err = first.Attempt(claim)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Claimant.Problem).To(ContainSubstring("longer than the 512 characters"))
}

// Whoever removes a registration removes it for all replicas: also for the one
// that saw the attempts. The next attempt brings it back for all.
func TestRemovedRegistrationIsForgotten(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	f.put(t, policies, electionPolicy("p", register))
	f.put(t, "v1/pods", webPod("web-1"))
	clock := testclock.NewFakeClock(start)
	setClock := func(o *Options) { o.Clock = clock }
	first, second := startCache(t, config, setClock), startCache(t, config, setClock)
	name := registrationName(webKey, "vm-1_a")
	eventually(t, viewNames(first)).Should(Equal([]string{"web-1"}))
	eventually(t, viewNames(second)).Should(Equal([]string{"web-1"}))
	try := func() {
		_, err := first.Attempt(Attempt{New: renewedAt("vm-1_a", clock.Now()), Time: clock.Now()})
		g.Expect(err).NotTo(HaveOccurred())
	}
	eventually(t, func() int { return f.watching(ownCandidates) }).Should(Equal(2))
	try()
	eventually(t, viewNames(first)).Should(ConsistOf("web-1", name))
	eventually(t, viewNames(second)).Should(ConsistOf("web-1", name))
	f.remove(ownCandidates, webKey.Namespace, name)
	eventually(t, viewNames(first)).Should(ConsistOf("web-1"))
	eventually(t, viewNames(second)).Should(ConsistOf("web-1"))

	clock.Step(writeEvery)
	try()
	eventually(t, viewNames(second)).Should(ConsistOf("web-1", name))
}

// Made-up identities cost the cluster nothing, and us little.
func TestMadeUpIdentitiesAreBounded(t *testing.T) {
	for action, identities := range map[v1alpha1.UnregisteredAction]int{
		v1alpha1.DenyUnregistered:     10_000,
		v1alpha1.RegisterUnregistered: 3 * MaxRegistrations,
	} {
		t.Run(string(action), func(t *testing.T) {
			g := NewWithT(t)
			c := benchCache(1, 3, func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Unregistered = action })
			key := benchKey(0)
			var last *Ballot
			for i := range identities {
				l := renewedAt(fmt.Sprintf("made-up-%d", i), start)
				l.Name = key.Name
				b, err := c.Attempt(Attempt{New: l, Time: start})
				g.Expect(err).NotTo(HaveOccurred())
				last = b
			}
			g.Expect(last.Claimant.Candidate).To(BeEmpty())
			kept := c.ledger.contest(key, false)
			if action == v1alpha1.DenyUnregistered {
				g.Expect(kept.attempts.Len()).To(BeZero())
				g.Expect(kept.registrations).To(BeEmpty())
				return
			}
			g.Expect(kept.attempts.Len()).To(Equal(MaxRegistrations))
			g.Expect(kept.registrations).To(HaveLen(MaxRegistrations))
			g.Expect(last.Claimant.Problem).To(Equal("is not a registered candidate, and 256 others were registered by their attempts in the last 10m0s"))

			l := renewedAt("made-up-new", start)
			l.Name = key.Name
			b, err := c.Attempt(Attempt{New: l, Time: start.Add(RegistrationTTL)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(b.Claimant.Candidate).NotTo(BeEmpty(), "the others have expired")
		})
	}
}

func TestExpirer(t *testing.T) {
	g := NewWithT(t)
	f, config := newFakeAPI(t)
	clock := testclock.NewFakeClock(start)
	f.put(t, policies, electionPolicy("p", register))
	put := func(name string, origin v1alpha1.CandidateOrigin, age time.Duration) {
		f.put(t, ownCandidates, candidate(name, func(c *v1alpha1.CandidateSpec) {
			c.Identity, c.Origin = name, origin
			c.TTLSeconds, c.RenewTime = ptr(int32(600)), ptr(metav1.NewMicroTime(start.Add(-age)))
		}))
	}
	put("expired", v1alpha1.OriginAttempt, 10*time.Minute)
	put("alive", v1alpha1.OriginAttempt, time.Minute)
	put("theirs", v1alpha1.OriginRegistration, time.Hour)
	c := startCache(t, config, func(o *Options) { o.Clock = clock })
	eventually(t, func() []*v1alpha1.Candidate { return c.Candidates(webKey) }).Should(HaveLen(3))
	e := c.Expirer()
	g.Expect(e.NeedLeaderElection()).To(BeTrue())
	g.Expect(c.NeedLeaderElection()).To(BeFalse())

	stale := *c.Candidates(webKey)[1]
	stale.ResourceVersion = "1"
	g.Expect(stale.Name).To(Equal("expired"))
	g.Expect(e.remove(t.Context(), &stale)).NotTo(Succeed(), "it was renewed meanwhile")

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	waiting := func() int { return clock.Waiters() }
	before := waiting()
	go func() { done <- e.Start(ctx) }()
	eventually(t, waiting).Should(BeNumerically(">", before))
	clock.Step(expireEvery)
	eventually(t, func() []string { return f.names(ownCandidates) }).Should(Equal([]string{"ns/alive", "ns/theirs"}))
	cancel()
	g.Expect(<-done).To(Succeed())
}
