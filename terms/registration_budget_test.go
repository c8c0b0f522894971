package terms

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// etcdLimit is what etcd takes in one request, by default, in bytes.
const etcdLimit = 1.5 * (1 << 20)

// Whatever policies there are, the API server can store the registration of
// those that there is room for.
func TestRegistrationFitsIntoEtcd(t *testing.T) {
	long := func(i int, pattern string) string {
		return fmt.Sprintf("%03d", i) + strings.Repeat(pattern, 250/len(pattern))
	}
	shapes := map[string]struct {
		pattern  string
		failure  v1alpha1.FailurePolicy
		selector func(int) string
		each     int
	}{
		"plain names":                {"x", v1alpha1.Ignore, func(int) string { return "" }, 100},
		"with Fail":                  {"x", v1alpha1.Fail, func(int) string { return "" }, 50},
		"stars and dots":             {".*", v1alpha1.Fail, func(int) string { return "" }, 15},
		"a selector of its own each": {"x", v1alpha1.Fail, func(i int) string { return fmt.Sprint(i) }, 1},
		"long selectors":             {"x", v1alpha1.Ignore, func(i int) string { return fmt.Sprint(i, strings.Repeat("s", 5000)) }, 1},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var objects []client.Object
			for i := range 60 {
				var names []string
				for n := range shape.each {
					names = append(names, long(n, shape.pattern))
				}
				p := policy(fmt.Sprintf("%02d-%s", i, strings.Repeat("n", 60)), "p", v1alpha1.Enforce, names...)
				p.Spec.FailurePolicy = shape.failure
				c := clusterPolicy(fmt.Sprintf("c-%d", i), &metav1.LabelSelector{MatchLabels: map[string]string{"team": shape.selector(i)}}, names...)
				c.Spec.FailurePolicy = shape.failure
				objects = append(objects, p, c)
			}
			f := newRegistration(t, objects...)
			f.trust.ca = strings.Repeat("c", 2*1200) // two certificates
			f.run(t)
			validating := f.validating(t)
			// The API server keeps some 800 bytes more for each entry: who owns its
			// fields.
			size := validating.Size() + 800*len(validating.Webhooks)
			t.Logf("%d entries take %d bytes", len(validating.Webhooks), size)
			g.Expect(size).To(BeNumerically("<", etcdLimit-200<<10))
			g.Expect(f.mutating(t).Size()).To(BeNumerically("<=", size))
		})
	}
}

// The policies of one namespace do not keep those of others from being
// registered.
func TestOneNamespaceDoesNotUseUpTheRegistration(t *testing.T) {
	g := NewWithT(t)
	var objects []client.Object
	for i := range 26 {
		var names []string
		for n := range 256 {
			names = append(names, fmt.Sprintf("%03d-%0246d", n, i))
		}
		objects = append(objects, policy("greedy", fmt.Sprintf("p-%02d", i), v1alpha1.Enforce, names...))
	}
	late := policy("other", "late", v1alpha1.Enforce, "web")
	late.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0))
	f := newRegistration(t, append(objects, late)...)
	f.run(t)
	g.Expect(f.validating(t).String()).To(ContainSubstring("other/web"))
	g.Expect(f.validating(t).Size()).To(BeNumerically("<", 100<<10))
}
