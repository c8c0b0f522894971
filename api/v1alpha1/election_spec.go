package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ElectionSpec is what people want of a Lease, whatever its policy says. It
// only ever chooses among eligible candidates, and nothing in it holds a Lease up.
// A pause comes before a switchover, and that before a pin.
type ElectionSpec struct {
	// paused leaves the Lease alone: any registered candidate may acquire it,
	// whether it is eligible or not, and nobody is made to step down.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// pin is the name of the candidate that is to lead for as long as it is
	// eligible. While it is not, the strategy chooses, and for a while after
	// another candidate had to acquire the Lease in its place (status.pin).
	// +kubebuilder:validation:MaxLength=300
	// +optional
	Pin string `json:"pin,omitempty"`
	// switchover moves the Lease to another candidate once. Leasewarden takes it
	// out of the spec when it is done or has failed, and says which in
	// status.switchover. One that has a time and is put back, as tools do that
	// keep objects as they are in Git, is not carried out again.
	// +optional
	Switchover *Switchover `json:"switchover,omitempty"`
}

// DefaultSwitchoverTimeout ends a switchover that says nothing else.
const DefaultSwitchoverTimeout = 2 * time.Minute

// Switchover is a request to move a Lease.
type Switchover struct {
	// to is the name of the candidate that is to lead.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	To string `json:"to"`
	// at is when to begin, an RFC 3339 time from 1970 to 9998. Left out: at once.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`
	// +kubebuilder:validation:XValidation:rule="self >= timestamp('1970-01-01T00:00:00Z') && self < timestamp('9999-01-01T00:00:00Z')",message="must be a time from 1970 to 9998"
	// +optional
	At *metav1.Time `json:"at,omitempty"`
	// timeout is how long it may take from then on, 1s to 1h. After it, the
	// switchover has failed, and the strategy chooses as before.
	// +kubebuilder:default="2m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="must be a duration from 1s to 1h, such as 2m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// TimeoutOrDefault is how long the switchover may take.
func (s *Switchover) TimeoutOrDefault() time.Duration {
	if s.Timeout == nil || s.Timeout.Duration <= 0 {
		return DefaultSwitchoverTimeout
	}
	return s.Timeout.Duration
}

// SwitchoverState is how far a switchover got.
//
// +kubebuilder:validation:Enum=Scheduled;InProgress;Done;Failed
type SwitchoverState string

const (
	// SwitchoverScheduled waits for its time.
	SwitchoverScheduled SwitchoverState = "Scheduled"
	// SwitchoverInProgress has begun: the candidate is chosen, and the holder
	// made to step down.
	SwitchoverInProgress SwitchoverState = "InProgress"
	// SwitchoverDone has ended with the candidate holding the Lease.
	SwitchoverDone SwitchoverState = "Done"
	// SwitchoverFailed has ended, or could not begin: message says why.
	SwitchoverFailed SwitchoverState = "Failed"
)

// Ended reports whether nothing more comes of it.
func (s SwitchoverState) Ended() bool { return s == SwitchoverDone || s == SwitchoverFailed }

// SwitchoverStatus is the answer to a Switchover.
type SwitchoverStatus struct {
	// to and at are those of the request.
	To string `json:"to"`
	// +optional
	At *metav1.Time `json:"at,omitempty"`
	// state is how far it got.
	State SwitchoverState `json:"state"`
	// from is who held the Lease when it began. Empty: nobody.
	// +optional
	From string `json:"from,omitempty"`
	// message says what is waited for, or how it ended.
	// +optional
	Message string `json:"message,omitempty"`
	// time is when it came to this state.
	Time metav1.Time `json:"time"`
	// deadline is when it has failed at the latest, once it has begun.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// latestAt is the latest time of a switchover whose time had come and that
	// has ended. One with a time not after it is over.
	// +optional
	LatestAt *metav1.Time `json:"latestAt,omitempty"`
	// observedGeneration is the metadata.generation of the Election that this
	// is the answer to.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Answers reports whether s is about that request.
func (s *SwitchoverStatus) Answers(request *Switchover) bool {
	return s != nil && request != nil && s.To == request.To && s.At.Equal(request.At)
}

// PinStatus is what became of a pin.
type PinStatus struct {
	// to is the pin.
	To string `json:"to"`
	// since is when it began to decide. Left out: it does not decide.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// failures counts how often in a row another candidate acquired the Lease
	// while the pin decided: the pinned one did not take it.
	// +optional
	Failures int32 `json:"failures,omitempty"`
	// retryAfter is when the pin decides again after such a failure.
	// +optional
	RetryAfter *metav1.Time `json:"retryAfter,omitempty"`
}

// Suspends reports whether the pin to that candidate does not decide at now.
func (s *PinStatus) Suspends(pin string, now time.Time) bool {
	return s != nil && s.To == pin && s.RetryAfter != nil && now.Before(s.RetryAfter.Time)
}
