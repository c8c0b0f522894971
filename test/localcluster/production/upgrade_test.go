package production

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// timings are the defaults of client-go's users, but for quicker retries.
var timings = elector.Timings{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second}

// Two replicas are replaced by those of another version, one after the other. No
// leader notices, nothing is vacant, a switchover that is asked for in between is
// carried out, and the API server can always ask one of them.
func TestUpgradeWithoutAVacancy(t *testing.T) {
	g := NewWithT(t)
	s := newSite(t, 2)
	next := s.program(t, "v0.2.0")
	s.govern(t, "upgraded", func(spec *v1alpha1.ElectionPolicySpec) {
		spec.Leases.Names = []string{"upgraded-*"}
		spec.FailurePolicy = v1alpha1.Fail
	})
	s.pod(t, "upgraded", "pod-a", "v1.0.0")
	s.pod(t, "upgraded", "pod-b", "v1.0.0")
	asked := s.askForever(t) // by now, attempts are ruled on
	stays, moves := s.compete(t, "upgraded-0"), s.compete(t, "upgraded-1")
	for _, l := range []*lane{stays, moves} {
		g.Eventually(l.leaders, soon, often).Should(HaveExactElements("pod-a_1"), "the older one")
	}

	g.Expect(s.warden.Replicas[0].Replace(t.Context(), next)).To(Succeed())
	g.Expect(versions(s)).To(Equal([]string{"v0.2.0", "v0.1.0"}))
	g.Expect(s.switchOver(t, "upgraded-1", "pod-b")).To(Succeed())
	g.Expect(s.warden.Replicas[1].Replace(t.Context(), next)).To(Succeed())
	g.Eventually(moves.leaders, soon, often).Should(HaveExactElements("pod-a_1", "pod-b_1"))
	g.Eventually(s.election(t, "upgraded-1"), soon, often).Should(HaveField("Status.Switchover", HaveValue(HaveField("State", v1alpha1.SwitchoverDone))))

	answers, failures := asked()
	g.Expect(failures).To(BeEmpty())
	g.Expect(answers).To(BeNumerically(">", 20))
	g.Expect(stays.leaders()).To(HaveExactElements("pod-a_1"), "nobody asked it to stop")
	g.Expect(moves.leaders()).To(HaveExactElements("pod-a_1", "pod-b_1"))
	failed, err := s.warden.Counter("leasewarden_failed_reviews_total")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(failed).To(BeZero())
	t.Logf("%d attempts were ruled on, none failed", answers)
}

// versions are those that the replicas say they are of.
func versions(s *site) (all []string) {
	for _, r := range s.warden.Replicas {
		version := "?"
		log, err := os.ReadFile(r.Log())
		for line := range strings.Lines(string(log)) {
			for _, v := range []string{"v0.1.0", "v0.2.0"} {
				if err == nil && strings.Contains(line, `"Starting"`) && strings.Contains(line, `version="`+v+`"`) {
					version = v
				}
			}
		}
		all = append(all, version)
	}
	return all
}

// lane is a Lease for which real electors compete.
type lane struct {
	mu  sync.Mutex
	led []string
}

// leaders are all who have led, in order.
func (l *lane) leaders() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.led...)
}

func (l *lane) notify(r elector.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Leads {
		l.led = append(l.led, r.Identity)
	}
}

// compete has both Pods compete for a Lease, until the test ends.
func (s *site) compete(t *testing.T, name string) *lane {
	l := &lane{}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for _, pod := range []string{"pod-a", "pod-b"} {
		running.Go(func() {
			err := elector.Run(ctx, s.Config(), elector.Options{
				Namespace: namespace, Lease: name, Identity: pod + "_1", Timings: timings, Notify: l.notify,
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	return l
}

// switchOver asks for the Lease to be moved.
func (s *site) switchOver(t *testing.T, name, to string) error {
	e, err := s.election(t, name)()
	if err != nil {
		return err
	}
	e.Spec.Switchover = &v1alpha1.Switchover{To: to}
	return s.client.Update(t.Context(), e, client.FieldOwner("test"))
}

// askForever has somebody who is no candidate try to acquire a governed Lease,
// again and again. Once the first is refused, each must be: one that is not was
// not ruled on. stop returns how many were ruled on, and which were not.
func (s *site) askForever(t *testing.T) (stop func() (answers int, failures []string)) {
	t.Helper()
	ask := func(ctx context.Context) error {
		_, err := s.kube.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: "upgraded-2"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("stranger_1"), LeaseDurationSeconds: ptr.To[int32](1)},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("it was admitted")
		}
		if strings.Contains(err.Error(), "is not a registered candidate") {
			return nil
		}
		return err
	}
	NewWithT(t).Eventually(func() error { return ask(t.Context()) }, soon, often).Should(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	var answers int
	var failures []string
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			switch err := ask(context.WithoutCancel(ctx)); err {
			case nil:
				answers++
			default:
				failures = append(failures, time.Now().Format(time.StampMilli)+": "+err.Error())
			}
		}
	}()
	return func() (int, []string) {
		cancel()
		<-done
		return answers, failures
	}
}
