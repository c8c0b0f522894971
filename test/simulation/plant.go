package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// Plant is a fault of Leasewarden that is planted, to see that it is found.
type Plant string

const (
	// PlantObject has the ruling read the Lease as it shall be, and not as it was.
	PlantObject Plant = "ruling reads object instead of oldObject"
	// PlantRelease has Leases released whoever holds them by then.
	PlantRelease Plant = "release without precondition"
	// PlantNoPassOver has the silent never passed over.
	PlantNoPassOver Plant = "no pass-over"
	// PlantRenewTime has terms run out by the holder's clock alone.
	PlantRenewTime Plant = "expiry by renewTime alone"
	// PlantNoTakeBack has orders to step down stay.
	PlantNoTakeBack Plant = "orders are never taken back"
	// PlantDryRun has policies in dry-run enforced.
	PlantDryRun Plant = "dry-run enforces"
)

// Plants are all of them.
var Plants = []Plant{PlantObject, PlantRelease, PlantNoPassOver, PlantRenewTime, PlantNoTakeBack, PlantDryRun}

// ballot changes what an attempt comes down to.
func (p Plant) ballot(b *candidates.Ballot, a *candidates.Attempt) {
	switch p {
	case PlantNoPassOver:
		b.State.Lease.ContestedSince = b.State.Now
	case PlantDryRun:
		enforced := *b.Policy
		enforced.Mode = v1alpha1.Enforce
		b.Policy = &enforced
	case PlantRenewTime:
		if a.Old == nil || a.Old.Spec.RenewTime == nil || a.Old.Spec.LeaseDurationSeconds == nil {
			return
		}
		b.TermEnds = a.Old.Spec.RenewTime.Add(leaseDuration(a.Old))
		b.TermHolder = *a.Old.Spec.HolderIdentity
	}
}

// wrap changes what a handler is asked.
func (p Plant) wrap(h http.Handler) http.Handler {
	if p != PlantObject {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review admissionv1.AdmissionReview
		if json.Unmarshal(body, &review) == nil && review.Request != nil && len(review.Request.OldObject.Raw) > 0 {
			review.Request.OldObject = review.Request.Object
			body, _ = json.Marshal(review)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// client changes what is written.
func (p Plant) client(c client.WithWatch) client.Client {
	if p != PlantRelease && p != PlantNoTakeBack {
		return c
	}
	return &plantedClient{WithWatch: c, plant: p}
}

type plantedClient struct {
	client.WithWatch
	plant Plant
}

// Patch implements client.Client.
func (c *plantedClient) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	body, err := patch.Data(o)
	if err != nil {
		return err
	}
	var f map[string]map[string]any
	if patch.Type() == types.MergePatchType && json.Unmarshal(body, &f) == nil {
		_, releases := f["spec"]["holderIdentity"]
		annotations, _ := f["metadata"]["annotations"].(map[string]any)
		order, ours := annotations[v1alpha1.StepDownAnnotation]
		switch {
		case c.plant == PlantRelease && releases:
			delete(f["metadata"], "resourceVersion")
			body, _ = json.Marshal(f)
			patch = client.RawPatch(types.MergePatchType, body)
		case c.plant == PlantNoTakeBack && ours && order == nil && !releases:
			return nil
		}
	}
	return c.WithWatch.Patch(ctx, o, patch, options...)
}
