package inventory

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// NewScheme knows every kind that Read lists.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		appsv1.AddToScheme, corev1.AddToScheme, v1alpha1.AddToScheme,
		coordinationv1.AddToScheme, coordinationv1alpha2.AddToScheme, coordinationv1beta1.AddToScheme,
	)
	return scheme, builder.AddToScheme(scheme)
}

// Inventory is what was read.
type Inventory struct {
	*candidates.ObjectSet
	// PodNamespaces are the namespaces of the Pods.
	PodNamespaces sets.Set[string]
}

// Read reads what the decisions on the Leases of a namespace depend on, of all
// namespaces if it is empty. The error names the kind that could not be listed.
func Read(ctx context.Context, from client.Reader, namespace string) (*Inventory, error) {
	r := &reader{ctx: ctx, client: from, Inventory: Inventory{candidates.NewObjectSet(), sets.New[string]()}}
	r.readPolicies(namespace)
	d := demandsOf(r.Policies())
	if d.heldByNode && namespace != "" {
		// A strategy that counts Leases counts those of every namespace.
		namespace = ""
		r.readPolicies(namespace)
		d = demandsOf(r.Policies())
	}
	if len(r.Policies()) > 0 {
		r.readLeases(namespace)
		r.readPods(namespace)
		r.readRegistrations(namespace)
		r.readContext(namespace, d)
	}
	return &r.Inventory, r.err
}

// reader keeps the first error: what comes after it is not read.
type reader struct {
	Inventory
	ctx    context.Context
	client client.Reader
	// onHostNetwork says that a Pod was read which is known by its Node's name.
	onHostNetwork bool
	err           error
}

func (r *reader) readPolicies(namespace string) {
	r.list(&v1alpha1.ElectionPolicyList{}, client.InNamespace(namespace))
	r.list(&v1alpha1.ClusterElectionPolicyList{})
}

// readLeases leaves out the heartbeats of Nodes, which are never governed, and
// many.
func (r *reader) readLeases(namespace string) {
	r.list(&coordinationv1.LeaseList{}, client.InNamespace(namespace), client.MatchingFieldsSelector{
		Selector: fields.OneTermNotEqualSelector("metadata.namespace", candidates.NodeLeaseNamespace),
	})
}

// readPods reads the Pods that some policy makes candidates.
func (r *reader) readPods(namespace string) {
	for _, p := range r.Policies() {
		pods := p.Spec.Candidates.Pods
		if pods == nil || len(p.Errors) > 0 {
			continue
		}
		in := namespace
		if p.Ref.Namespace != "" {
			in = p.Ref.Namespace
		}
		r.list(&corev1.PodList{}, client.InNamespace(in), selecting(&pods.Selector))
	}
}

func (r *reader) readRegistrations(namespace string) {
	r.list(&v1alpha1.CandidateList{}, client.InNamespace(namespace))
	r.list(&v1alpha1.ElectionList{}, client.InNamespace(namespace))
	if served := r.listIfServed(&coordinationv1beta1.LeaseCandidateList{}, client.InNamespace(namespace)); !served {
		r.listIfServed(&coordinationv1alpha2.LeaseCandidateList{}, client.InNamespace(namespace))
	}
}

func (r *reader) readContext(namespace string, d demands) {
	if d.namespaceLabels {
		r.list(&corev1.NamespaceList{})
	}
	if d.nodeLabels || r.onHostNetwork {
		r.list(&corev1.NodeList{})
	}
	if d.revisions {
		r.list(&appsv1.ReplicaSetList{}, client.InNamespace(namespace))
		r.list(&appsv1.ControllerRevisionList{}, client.InNamespace(namespace))
	}
}

// listIfServed reports whether the cluster serves the kind at all.
func (r *reader) listIfServed(list client.ObjectList, options ...client.ListOption) bool {
	if r.err != nil {
		return true
	}
	r.list(list, options...)
	if meta.IsNoMatchError(r.err) {
		r.err = nil
		return false
	}
	return true
}
