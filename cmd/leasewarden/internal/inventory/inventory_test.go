package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// cluster records what is listed, and refuses some of it.
type cluster struct {
	client.Reader
	listed []string
	refuse map[string]error
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{
		Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		refuse: map[string]error{},
	}
}

func (c *cluster) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := &client.ListOptions{}
	o.ApplyOptions(options)
	kind := strings.TrimSuffix(fmt.Sprintf("%T", list), "List")
	kind = kind[strings.LastIndex(kind, "*")+1:]
	entry := strings.TrimSpace(kind + " " + o.Namespace)
	if o.LabelSelector != nil {
		entry += " " + o.LabelSelector.String()
	}
	c.listed = append(c.listed, entry)
	if err := c.refuse[kind]; err != nil {
		return err
	}
	// The fake client cannot leave out a namespace.
	o.FieldSelector = nil
	return c.Reader.List(ctx, list, o)
}

func policy(strategy v1alpha1.StrategyName) *v1alpha1.ElectionPolicy {
	p := &v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "p"}}
	p.Spec.Leases.Names = []string{"app"}
	p.Spec.Strategy.Name = strategy
	p.Spec.Candidates.Pods = &v1alpha1.PodCandidates{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}
	return p
}

func pod(name string, hostNetwork bool) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{HostNetwork: hostNetwork},
	}
}

func TestReadListsOnlyWhatIsNeeded(t *testing.T) {
	policies := []string{"v1alpha1.ElectionPolicy apps", "v1alpha1.ClusterElectionPolicy"}
	basics := []string{"v1.Lease apps", "v1.Pod apps app=a", "v1alpha1.Candidate apps", "v1alpha1.Election apps", "v1beta1.LeaseCandidate apps"}
	for name, test := range map[string]struct {
		objects []client.Object
		want    [][]string
	}{
		"no policy": {
			want: [][]string{policies},
		},
		"a strategy that needs nothing else": {
			objects: []client.Object{policy(v1alpha1.FirstCome), pod("a", false)},
			want:    [][]string{policies, basics},
		},
		"Pods that are known by their Node": {
			objects: []client.Object{policy(v1alpha1.FirstCome), pod("a", true)},
			want:    [][]string{policies, basics, {"v1.Node"}},
		},
		"revisions": {
			objects: []client.Object{policy(v1alpha1.RolloutAware)},
			want:    [][]string{policies, basics, {"v1.ReplicaSet apps", "v1.ControllerRevision apps"}},
		},
		"Leases of every namespace": {
			objects: []client.Object{policy(v1alpha1.Spread)},
			want: [][]string{policies, {
				"v1alpha1.ElectionPolicy", "v1alpha1.ClusterElectionPolicy",
				"v1.Lease", "v1.Pod apps app=a", "v1alpha1.Candidate", "v1alpha1.Election", "v1beta1.LeaseCandidate",
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.objects...)
			if _, err := Read(t.Context(), c, "apps"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Concat(test.want...), c.listed); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadFindsCandidates(t *testing.T) {
	found, err := Read(t.Context(), newCluster(t, policy(v1alpha1.FirstCome), pod("a", false), pod("b", false)), "apps")
	if err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Namespace: "apps", Name: "app"}
	if got := len(found.Pods(found.Governing(key).Policy, key)); got != 2 || !found.PodNamespaces.Has("apps") {
		t.Errorf("%d Pods in %v", got, found.PodNamespaces)
	}
}

func TestReadSaysWhatToDoAboutARefusal(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)
	missing := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "leasewarden.dev", Kind: "ElectionPolicy"}}
	for kind, test := range map[string]struct {
		err  error
		want string
	}{
		"v1.Pod": {forbidden, "cannot list Pod objects: pods is forbidden: <nil>: ask for the permission to list them, or give manifests with -f"},
		"v1alpha1.ElectionPolicy": {missing, "this cluster does not serve leasewarden.dev/v1alpha1 ElectionPolicy: " +
			"install the CRDs of Leasewarden, or give manifests with -f"},
	} {
		c := newCluster(t, policy(v1alpha1.FirstCome))
		c.refuse[kind] = test.err
		if _, err := Read(t.Context(), c, "apps"); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", kind, err, test.want)
		}
	}
}

func TestReadTakesTheLeaseCandidatesThatAreServed(t *testing.T) {
	c := newCluster(t, policy(v1alpha1.FirstCome))
	missing := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "LeaseCandidate"}}
	c.refuse["v1beta1.LeaseCandidate"] = missing
	c.refuse["v1alpha2.LeaseCandidate"] = missing
	if _, err := Read(t.Context(), c, "apps"); err != nil {
		t.Fatal(err)
	}
	want := []string{"v1beta1.LeaseCandidate apps", "v1alpha2.LeaseCandidate apps"}
	if diff := cmp.Diff(want, c.listed[len(c.listed)-2:]); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}
