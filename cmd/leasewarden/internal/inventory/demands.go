package inventory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// demands are the facts that only some policies look at.
type demands struct {
	nodeLabels, namespaceLabels, revisions, heldByNode bool
}

func demandsOf(policies []*candidates.Policy) demands {
	var d demands
	for _, p := range policies {
		s := &p.Spec.Strategy
		// A filter or a score of the policy's own may look at everything.
		custom := s.Name == v1alpha1.Custom || len(s.Filters) > 0
		uses := func(name v1alpha1.StrategyName) bool { return custom || s.Name == name || s.Base == name }
		d.nodeLabels = d.nodeLabels || uses(v1alpha1.Topology)
		d.revisions = d.revisions || uses(v1alpha1.RolloutAware)
		d.heldByNode = d.heldByNode || uses(v1alpha1.Spread)
		d.namespaceLabels = d.namespaceLabels || p.NamespaceSelector != nil
	}
	return d
}

// selecting lists what selector selects. A selector that cannot be parsed is an
// error of its policy, and selects nothing.
func selecting(selector *metav1.LabelSelector) client.MatchingLabelsSelector {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		s = labels.Nothing()
	}
	return client.MatchingLabelsSelector{Selector: s}
}
