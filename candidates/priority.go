package candidates

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// maxClockLead is how far the API server's clock may be ahead of ours.
const maxClockLead = time.Minute

// Where the priority stands in an object, as its managed fields write it.
var (
	podPriorityPath       = fieldpath.MakePathOrDie("metadata", "annotations", v1alpha1.PriorityAnnotation)
	candidatePriorityPath = fieldpath.MakePathOrDie("spec", "priority")
)

// podPriority reads the priority annotations. What cannot be read is ignored
// and reported: a typo must not make anybody a leader, or keep it from being
// one. An until that cannot be read ends the priority, since nobody can say
// when it should.
func podPriority(annotations map[string]string) (priority int32, until time.Time, problem string) {
	raw, ok := annotations[v1alpha1.PriorityAnnotation]
	if !ok {
		return 0, time.Time{}, ""
	}
	n, err := strconv.ParseInt(raw, 10, 32)
	if err != nil {
		return 0, time.Time{}, fmt.Sprintf("annotation %s: %q is not a whole number of 32 bits, and is ignored", v1alpha1.PriorityAnnotation, raw)
	}
	rawUntil, ok := annotations[v1alpha1.PriorityUntilAnnotation]
	if !ok {
		return int32(n), time.Time{}, ""
	}
	until, err = time.Parse(time.RFC3339, rawUntil)
	if err != nil {
		return 0, time.Time{}, fmt.Sprintf("annotation %s: %q is not an RFC 3339 time, and the priority is ignored", v1alpha1.PriorityUntilAnnotation, rawUntil)
	}
	return int32(n), until, ""
}

// priorityEnds is when a priority that was given at since ends: at until, or
// after the policy's limit, whichever is sooner. A limit of 0 is none.
func priorityEnds(until, since time.Time, limit time.Duration) time.Time {
	if limit <= 0 {
		return until
	}
	end := since.Add(limit)
	if until.IsZero() || end.Before(until) {
		return end
	}
	return until
}

// setSince is when the field at path was last set: the API server notes that
// for each writer in the object's managed fields. All replicas see the same
// time, also after a restart. Without a note it is when the object was made.
func setSince(meta *metav1.ObjectMeta, path fieldpath.Path) time.Time {
	var since time.Time
	for i := range meta.ManagedFields {
		entry := &meta.ManagedFields[i]
		if entry.Time != nil && entry.Time.After(since) && owns(entry, path) {
			since = entry.Time.Time
		}
	}
	if since.IsZero() {
		return meta.CreationTimestamp.Time
	}
	return since
}

func owns(entry *metav1.ManagedFieldsEntry, path fieldpath.Path) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields fieldpath.Set
	if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)); err != nil {
		return false
	}
	return fields.Has(path)
}
