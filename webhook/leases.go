package webhook

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

// Elections is what the webhook needs to know of the elections it rules on. It
// is a candidates.Cache.
type Elections interface {
	// Attempt says what an attempt comes down to, and remembers it unless it is
	// side-effect free. The error wraps candidates.ErrNotGoverned, or
	// candidates.ErrNotSynced while it cannot be known.
	Attempt(candidates.Attempt) (*candidates.Ballot, error)
	// Governing says which policy governs a Lease.
	Governing(types.NamespacedName) candidates.Governance
	// Synced says why what Governing returns is not to be relied on yet.
	Synced() error
}

// Leases rules on writes to Leases. Its two halves are for a validating and a
// mutating webhook configuration.
type Leases struct {
	// Elections are what it rules on.
	Elections Elections
	// Username is how the API server names Leasewarden itself. Only that user
	// may write Leasewarden's annotations. It is ruled on like everybody else
	// when it takes a Lease: it may be the user of a person, too.
	Username string
	// DryRun treats every policy as one in the mode DryRun.
	DryRun bool
	// Metrics counts what it does.
	Metrics *Metrics
	// Log gets a line whenever the ruling on a claimant changes.
	Log logr.Logger
	// Clock is the time. Default: the real one.
	Clock clock.PassiveClock

	findings findings
}

// Validating is the half that refuses.
func (l *Leases) Validating() http.Handler {
	return newHandler(decodeLeaseReview, l.timed(halfValidating, l.validate), l.Metrics, l.Log)
}

// Mutating is the half that stamps a successful acquire. What it would not
// allow it leaves for the validating half to refuse, and it remembers no
// attempt: the validating half sees the same one a moment later. In that moment
// a Pod may have turned eligible; so that the Lease then says nothing, and not
// what was true of the last holder, a stamp that it has is taken away.
func (l *Leases) Mutating() http.Handler {
	return newHandler(decodeLeaseReview, l.timed(halfMutating, l.mutate), l.Metrics, l.Log)
}

func (l *Leases) timed(half string, review reviewer) reviewer {
	observer := l.Metrics.duration.WithLabelValues(half)
	return func(request *admissionv1.AdmissionRequest) (admission.Response, error) {
		start := l.now()
		defer func() { observer.Observe(l.now().Sub(start).Seconds()) }()
		return review(request)
	}
}

func (l *Leases) now() time.Time {
	if l.Clock == nil {
		return time.Now()
	}
	return l.Clock.Now()
}

func (l *Leases) validate(request *admissionv1.AdmissionRequest) (admission.Response, error) {
	w, err := l.decode(request)
	if err != nil {
		return admission.Response{}, err
	}
	ruling, err := l.rule(w, isDryRun(request))
	switch {
	case err != nil:
		return admission.Response{}, err
	case ruling == nil:
		return admission.Allowed(""), nil
	}
	l.Metrics.ruled(w, ruling)
	l.report(w, ruling)
	return respond(ruling), nil
}

func (l *Leases) mutate(request *admissionv1.AdmissionRequest) (admission.Response, error) {
	w, err := l.decode(request)
	if err != nil {
		return admission.Response{}, err
	}
	if !w.transition.Contests() {
		return admission.Allowed(""), nil
	}
	ruling, err := l.rule(w, true)
	if err != nil {
		return admission.Response{}, err
	}
	switch {
	case ruling == nil || ruling.Mode != v1alpha1.Enforce:
		return admission.Allowed(""), nil
	case ruling.Verdict == Deny || ruling.Reason == ReasonExempt:
		return admission.Patched("", unstamp(w.new)...), nil
	}
	return admission.Patched("", stamp(w.new, ruling)...), nil
}

// write is a decoded write to a Lease.
type write struct {
	*admissionv1.AdmissionRequest
	transition Transition
	old, new   *coordinationv1.Lease
}

func (l *Leases) decode(request *admissionv1.AdmissionRequest) (*write, error) {
	old, new, err := decodeLeases(request)
	if err != nil {
		return nil, err
	}
	// A Lease whose name is to be generated has none in the request.
	if new != nil && (request.Name != "" && new.Name != request.Name || new.Namespace != request.Namespace) {
		return nil, malformed("the request is for lease %s/%s, its object is %s/%s",
			quote(request.Namespace), quote(request.Name), quote(new.Namespace), quote(new.Name))
	}
	return &write{AdmissionRequest: request, transition: Classify(request.Operation, old, new), old: old, new: new}, nil
}

// rule returns nil for a write that is none of our business: one to a Lease that
// no policy governs or that others coordinate, one that neither asks for the
// Lease nor touches what only we may write, a renewal by a holder that was not
// told to step down.
func (l *Leases) rule(w *write, sideEffectFree bool) (*Ruling, error) {
	if w.standsAside() {
		return nil, nil
	}
	key := ""
	if l.Username == "" || w.UserInfo.Username != l.Username {
		key = protectedChange(w.transition, w.old, w.new)
	}
	switch {
	case key != "":
		return l.refuseChange(w, ReasonProtectedAnnotation, annotationRefusal(w.Namespace, w.Name, key))
	case w.optsOut():
		return l.refuseChange(w, ReasonProtectedStrategy, strategyRefusal(w.Namespace, w.Name))
	case w.transition.Contests() || w.steppingDown():
		return l.ruleOnAttempt(w, sideEffectFree)
	}
	return nil, nil
}

// standsAside reports whether the Lease is coordinated by others. That goes by
// the Lease as it was: whoever takes a Lease must not get past us by what it
// writes in it. But for the API server itself, which begins so to coordinate one.
func (w *write) standsAside() bool {
	if w.UserInfo.Username == user.APIServerUser && candidates.CoordinatedByOthers(w.new) {
		return true
	}
	return candidates.CoordinatedByOthers(w.old)
}

// optsOut reports whether the write leaves the election to others: that would
// take the Lease out of its policy.
func (w *write) optsOut() bool { return candidates.CoordinatedByOthers(w.new) }

// steppingDown reports whether this is a renewal by a holder that was told to
// step down.
func (w *write) steppingDown() bool {
	return w.transition == Renew && w.old.Annotations[v1alpha1.StepDownAnnotation] == holder(w.old)
}

func (l *Leases) ruleOnAttempt(w *write, sideEffectFree bool) (*Ruling, error) {
	ballot, err := l.Elections.Attempt(candidates.Attempt{
		Old: w.old, New: w.new, User: w.UserInfo, Time: l.now(), SideEffectFree: sideEffectFree,
	})
	switch {
	case errors.Is(err, candidates.ErrNotGoverned):
		return nil, nil
	case err != nil:
		return nil, err
	}
	ruling := Rule(w.transition, holder(w.new), ballot, l.DryRun)
	return &ruling, nil
}

// refuseChange rules on a change that only others may make.
func (l *Leases) refuseChange(w *write, reason Reason, message string) (*Ruling, error) {
	if err := l.Elections.Synced(); err != nil {
		return nil, err
	}
	policy := l.Elections.Governing(types.NamespacedName{Namespace: w.Namespace, Name: w.Name}).Policy
	if policy == nil {
		return nil, nil
	}
	ruling := newRuling(w.transition, policy.Compiled, policy.Spec, l.DryRun)
	if policy.Exempts(&w.UserInfo) {
		ruling.Verdict, ruling.Reason = Allow, ReasonExempt
		return &ruling, nil
	}
	ruling.Verdict, ruling.Reason, ruling.Message = Deny, reason, message
	return &ruling, nil
}

func respond(r *Ruling) admission.Response {
	response := admission.Allowed("")
	if !r.Admits() {
		response = admission.Denied(r.Message)
		// The API server composes the client's error from this status.
		response.Result.Status = metav1.StatusFailure
		response.Result.Message, response.Result.Reason = r.Message, metav1.StatusReasonForbidden
	}
	if r.Verdict == Deny && r.Warns {
		response.Warnings = []string{"would be denied if the policy were enforced: " + r.Message}
	}
	response.AuditAnnotations = audit(r)
	return response
}

func isDryRun(request *admissionv1.AdmissionRequest) bool {
	return request.DryRun != nil && *request.DryRun
}
