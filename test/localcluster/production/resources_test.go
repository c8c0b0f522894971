package production

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	loadedLeases = 100
	// candidatesEach is how many Pods compete for each of them.
	candidatesEach = 3
	// renewEvery is client-go's retry period, by default.
	renewEvery = 2 * time.Second
	// changeEvery is how often one of the Leases changes hands.
	changeEvery = time.Second
	// measuredFor is long enough for garbage to be collected, and short for a test.
	measuredFor = 30 * time.Second
)

// The requests of the manifests are enough for a hundred governed Leases, of which
// one changes hands every second.
func TestRequestsAreEnough(t *testing.T) {
	g := NewWithT(t)
	requests := requested(t)
	s := newSite(t, 1)
	s.govern(t, "loaded", func(spec *v1alpha1.ElectionPolicySpec) {
		spec.Leases.Names = []string{"loaded-*"}
		spec.Candidates.Pods.LeaseName = &v1alpha1.FieldSource{FromLabel: "lease"}
	})
	for i := range loadedLeases * candidatesEach {
		lease := fmt.Sprintf("loaded-%d", i/candidatesEach)
		s.pod(t, "loaded", fmt.Sprintf("%s-%d", lease, i%candidatesEach), "v1.0.0", "lease", lease)
	}
	s.load(t)
	g.Eventually(func() (float64, error) { return s.warden.Counter("leasewarden_lease_vacant") }, soon, often).Should(BeZero())
	g.Eventually(func() (float64, error) { return s.warden.Counter("leasewarden_candidates") }, soon, often).Should(BeEquivalentTo(loadedLeases * candidatesEach))

	read := func(metric string) float64 {
		n, err := s.warden.Counter(metric)
		g.Expect(err).NotTo(HaveOccurred())
		return n
	}
	began, before := time.Now(), read("process_cpu_seconds_total")
	highest := 0.0
	g.Consistently(func() error {
		n, err := s.warden.Counter("process_resident_memory_bytes")
		highest = max(highest, n)
		return err
	}, measuredFor, time.Second).Should(Succeed())
	cpu := (read("process_cpu_seconds_total") - before) / time.Since(began).Seconds()
	g.Expect(read("leasewarden_leader_changes_total")).To(BeNumerically(">", 10))
	t.Logf("with %d Leases of %d candidates each: %.0f MiB, %.0f millicores", loadedLeases, candidatesEach, highest/(1<<20), 1000*cpu)
	g.Expect(highest).To(BeNumerically("<", requests.Memory().AsApproximateFloat64()), "bytes of memory")
	g.Expect(cpu).To(BeNumerically("<", requests.Cpu().AsApproximateFloat64()), "processors")
}

// requested is what the manifests ask for.
func requested(t *testing.T) corev1.ResourceList {
	t.Helper()
	g := NewWithT(t)
	content, err := os.ReadFile(filepath.Join(repository, "manifests", "default", "deployment.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	var deployment appsv1.Deployment
	g.Expect(yaml.UnmarshalStrict(content, &deployment)).To(Succeed())
	requests := deployment.Spec.Template.Spec.Containers[0].Resources.Requests
	g.Expect(requests).To(And(HaveKey(corev1.ResourceCPU), HaveKey(corev1.ResourceMemory)))
	g.Expect(requests.Memory().Cmp(resource.MustParse("1Mi"))).To(BeNumerically(">", 0))
	return requests
}

// load has a holder for each Lease, which renews it until the test ends. One after
// the other releases it, and goes on as another process.
func (s *site) load(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	var made sync.WaitGroup
	for i := range loadedLeases {
		made.Add(1)
		running.Go(func() { s.keep(ctx, i, made.Done) })
	}
	made.Wait()
}

// keep is the holder of one Lease. It releases it in its turn, and acquires it again.
func (s *site) keep(ctx context.Context, i int, made func()) {
	leases := s.kube.CoordinationV1().Leases(namespace)
	process := 0
	spec := func(holder string) coordinationv1.LeaseSpec {
		now := metav1.NowMicro()
		return coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](600), AcquireTime: &now, RenewTime: &now}
	}
	identity := func() string { return fmt.Sprintf("loaded-%d-0_%d", i, process) }
	lease, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("loaded-%d", i)}, Spec: spec(identity())}, metav1.CreateOptions{})
	made()
	if err != nil {
		return // the candidates are counted by whoever waits
	}
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		next := lease.DeepCopy()
		next.Spec.RenewTime = ptr.To(metav1.NowMicro())
		switch round := int(loadedLeases * changeEvery / renewEvery); turn % round {
		case i % round:
			next.Spec = spec("")
		case (i + 1) % round:
			process++
			next.Spec = spec(identity())
		}
		written, err := leases.Update(ctx, next, metav1.UpdateOptions{})
		if err != nil { // refused, or the Lease was written by Leasewarden
			written, err = leases.Get(ctx, lease.Name, metav1.GetOptions{})
		}
		if err == nil {
			lease = written
		}
	}
}
