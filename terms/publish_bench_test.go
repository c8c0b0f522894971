package terms

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/picker"
)

// benchElections has a set of objects for each Lease, so that what is measured
// is not the fake.
type benchElections struct {
	fakeElections
	sets      map[types.NamespacedName]*candidates.ObjectSet
	elections map[types.NamespacedName]*v1alpha1.Election
}

func (b *benchElections) View(key types.NamespacedName, lease *coordinationv1.Lease, now time.Time) (*candidates.View, error) {
	set := b.sets[key]
	return candidates.Assemble(set, set.Governing(key), key, lease, now), nil
}

// Observe does nothing. What the real one takes is measured with it.
func (b *benchElections) Observe(*coordinationv1.Lease, time.Time) {}

func (b *benchElections) Election(key types.NamespacedName) *v1alpha1.Election {
	return b.elections[key]
}

// benchPublisher governs so many Leases, with three Pods each, and has
// published all of them.
func benchPublisher(b *testing.B, leases int) (*Publisher, []types.NamespacedName) {
	b.Helper()
	elections := &benchElections{
		fakeElections: fakeElections{tracked: map[types.NamespacedName]bool{}},
		sets:          map[types.NamespacedName]*candidates.ObjectSet{},
		elections:     map[types.NamespacedName]*v1alpha1.Election{},
	}
	p := NewPublisher(PublisherOptions{
		Leases:    NewLeaseWatch(LeaseWatchOptions{Elections: elections}),
		Client:    fake.NewClientBuilder().WithScheme(testScheme(b)).WithStatusSubresource(&v1alpha1.Election{}).Build(),
		Elections: elections, Recorder: &fakeRecorder{}, Log: logr.Discard(), WritesPerSecond: 1e6,
	})
	keys := make([]types.NamespacedName, leases)
	for i := range keys {
		key := types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("lease-%05d", i)}
		policy := policyOf("p", v1alpha1.OldestEmulationVersion)
		policy.Spec.Leases.Names = []string{"*"}
		set := candidates.NewObjectSet()
		set.Add(policy)
		for _, name := range []string{"a-0", "a-1", "a-2"} {
			set.Add(podOf(name, "v1.36.0"))
		}
		keys[i], elections.sets[key] = key, set
		if err := p.leases.Update(renewal(key, time.Now())); err != nil {
			b.Fatal(err)
		}
		// What was published, as if it had been written.
		pub := p.published.get(key)
		a, _ := p.leases.look(key, pub.terms)
		view, err := elections.View(key, a.lease, time.Now())
		if err != nil {
			b.Fatal(err)
		}
		decision := picker.Decide(view.Policy, &view.State)
		acted := p.act(b.Context(), key, pub, view, &decision, &a, time.Now())
		pub.status = p.statusOf(key, view, &decision, pub, &a, &acted, time.Now())
		elections.elections[key] = &v1alpha1.Election{Status: *pub.status}
	}
	return p, keys
}

func renewal(key types.NamespacedName, now time.Time) *coordinationv1.Lease {
	holder, duration, transitions := "a-0_5b6ae0b7-9b7e-4f0b-8d2b-0d1a7cf2f6b6", int32(15), int32(3)
	acquired, renewed := metav1.NewMicroTime(zero), metav1.NewMicroTime(now)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(key.Name), Annotations: map[string]string{
			v1alpha1.ElectedByAnnotation: "ElectionPolicy ns/p", v1alpha1.StrategyAnnotation: "OldestEmulationVersion", v1alpha1.CriterionAnnotation: "OldestCandidate",
		}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &duration, LeaseTransitions: &transitions, AcquireTime: &acquired, RenewTime: &renewed},
	}
}

// A renewal is what there is most of: 1,000 Leases make 500 in a second. It
// costs what it takes to decode it, and next to nothing more.
func BenchmarkRenewal(b *testing.B) {
	for _, leases := range []int{1000, 10000} {
		p, keys := benchPublisher(b, leases)
		b.Run(fmt.Sprintf("leases=%d", leases), func(b *testing.B) {
			renewed := make([]*coordinationv1.Lease, b.N)
			for i := range renewed {
				renewed[i] = renewal(keys[i%leases], time.Now().Add(time.Duration(i)))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range renewed {
				if err := p.leases.Update(renewed[i]); err != nil {
					b.Fatal(err)
				}
			}
			if n := p.elections.Len(); n > 0 {
				b.Fatalf("%d renewals are to be looked at", n)
			}
		})
	}
	b.Run("decoded", func(b *testing.B) {
		p, keys := benchPublisher(b, 1000)
		scheme := testScheme(b)
		codec := protobuf.NewSerializer(scheme, scheme)
		lease := renewal(keys[0], time.Now())
		lease.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("Lease"))
		lease.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "kube-scheduler", Operation: "Update", APIVersion: "coordination.k8s.io/v1", FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:acquireTime":{},"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:leaseTransitions":{},"f:renewTime":{}}}`)},
		}}
		var encoded bytes.Buffer
		if err := codec.Encode(lease, &encoded); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			o, _, err := codec.Decode(encoded.Bytes(), nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			if err := p.leases.Update(o); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// One Pod event concerns the Leases that it is a candidate for, however many
// others there are.
func BenchmarkPodEvent(b *testing.B) {
	for _, leases := range []int{10, 100, 1000, 10000} {
		p, keys := benchPublisher(b, leases)
		b.Run(fmt.Sprintf("leases=%d", leases), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key := keys[i%leases]
				p.enqueue(key)
				got, _ := p.elections.Get()
				if _, err := p.publish(context.Background(), got); err != nil {
					b.Fatal(err)
				}
				p.elections.Done(got)
			}
			b.StopTimer()
			var list v1alpha1.ElectionList
			if err := p.Client.List(context.Background(), &list); err != nil || len(list.Items) > 0 {
				b.Fatalf("%d writes of what had not changed, %v", len(list.Items), err)
			}
		})
	}
}
