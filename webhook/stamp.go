package webhook

import (
	"maps"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// stamp is the patch that records on a Lease by what its holder was elected. The
// API server refuses a write whose annotations become too large, and the holder
// must not be refused the Lease for what we add: without room for all, there is
// none of it.
func stamp(lease *coordinationv1.Lease, r *Ruling) []jsonpatch.JsonPatchOperation {
	values := []struct{ key, value string }{
		{v1alpha1.ElectedAnnotation, candidates.ClipIdentity(holder(lease))},
		{v1alpha1.ElectedByAnnotation, r.Policy.String()},
		{v1alpha1.StrategyAnnotation, string(r.Strategy)},
		{v1alpha1.CriterionAnnotation, r.Criterion},
	}
	all := maps.Clone(lease.Annotations)
	if all == nil {
		all = map[string]string{}
	}
	for _, v := range values {
		all[v.key] = v.value
	}
	switch {
	case validation.ValidateAnnotationsSize(all) != nil:
		return unstamp(lease)
	case len(lease.Annotations) == 0:
		return []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/metadata/annotations", all)}
	}
	var patch []jsonpatch.JsonPatchOperation
	for _, v := range values {
		if lease.Annotations[v.key] != v.value {
			patch = append(patch, jsonpatch.NewOperation("add", "/metadata/annotations/"+pointerToken.Replace(v.key), v.value))
		}
	}
	return patch
}

// unstamp is the patch that removes what an earlier stamp left.
func unstamp(lease *coordinationv1.Lease) []jsonpatch.JsonPatchOperation {
	var patch []jsonpatch.JsonPatchOperation
	for _, key := range stamps {
		if _, ok := lease.Annotations[key]; ok {
			patch = append(patch, jsonpatch.NewOperation("remove", "/metadata/annotations/"+pointerToken.Replace(key), nil))
		}
	}
	return patch
}

// pointerToken escapes a key for use in a JSON pointer (RFC 6901, section 3).
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")
