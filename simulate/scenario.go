package simulate

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/picker"
)

// Scenario is what happens to the replicas of one component.
type Scenario struct {
	// Description says in a sentence what is played.
	Description string `json:"description,omitempty"`
	// Lease is the one that they elect with, as namespace/name.
	Lease string `json:"lease"`
	// Duration is how long it is watched.
	Duration metav1.Duration `json:"duration"`
	// Labels are those of the replicas' Pods.
	Labels map[string]string `json:"labels,omitempty"`
	// Timings are those of the electors.
	Timings Timings `json:"timings,omitempty"`
	// Replicas are there from the start.
	Replicas []Replica `json:"replicas"`
	// APIServers are those whose version must not be older than the leader's.
	APIServers []APIServer `json:"apiServers,omitempty"`
	// Steps are what happens, in the order of time.
	Steps []Step `json:"steps,omitempty"`
}

// Timings are those of the electors. The defaults are client-go's, as the
// components of the control plane have them.
type Timings struct {
	LeaseDuration metav1.Duration `json:"leaseDuration,omitempty"`
	RenewDeadline metav1.Duration `json:"renewDeadline,omitempty"`
	RetryPeriod   metav1.Duration `json:"retryPeriod,omitempty"`
	// ReleaseOnExit says that a replica that is asked to stop releases the Lease.
	ReleaseOnExit bool `json:"releaseOnExit,omitempty"`
	// Start is how long a replica takes from its start to its first attempt.
	Start metav1.Duration `json:"start,omitempty"`
	// Restart is how long the container of a process that ended takes to be
	// started again. Default: 1s.
	Restart metav1.Duration `json:"restart,omitempty"`
}

// Replica is one of the component.
type Replica struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Node    string `json:"node,omitempty"`
	Zone    string `json:"zone,omitempty"`
}

// APIServer is one of the control plane.
type APIServer struct {
	Node    string `json:"node"`
	Version string `json:"version"`
}

// Step is one thing that happens. Just one of its parts is given.
type Step struct {
	// At is when, from the start.
	At metav1.Duration `json:"at"`
	// Replace stops all that runs on a node, the API server too, and starts it
	// again, usually in another version.
	Replace *Replace `json:"replace,omitempty"`
	// Crash ends a process, as a bug does.
	Crash *Outage `json:"crash,omitempty"`
	// Lose takes away power, of replicas or a zone: nobody reports it.
	Lose *Outage `json:"lose,omitempty"`
	// CutOff keeps replicas from reaching the API server.
	CutOff *Outage `json:"cutOff,omitempty"`
	// Rollout replaces all replicas one by one, as a Deployment does that starts
	// one more before it stops one.
	Rollout *Rollout `json:"rollout,omitempty"`
}

// Replace is a node of which everything is replaced.
type Replace struct {
	Node    string `json:"node"`
	Version string `json:"version,omitempty"`
	// Down is how long it takes.
	Down metav1.Duration `json:"down"`
}

// Outage concerns one replica by name, "leader" for the one that leads, or
// those of a zone.
type Outage struct {
	Replica string `json:"replica,omitempty"`
	Zone    string `json:"zone,omitempty"`
	// For is how long it takes. Default: for ever; for a crash, the restart.
	For metav1.Duration `json:"for,omitempty"`
}

// Rollout is a rolling update.
type Rollout struct {
	Version string `json:"version"`
	// Ready is how long a replica takes from its start until the next one is
	// stopped. Default: 10s.
	Ready metav1.Duration `json:"ready,omitempty"`
}

// Leader stands for the replica that leads.
const Leader = "leader"

// Bounds of a scenario.
const (
	maxReplicas = 100
	maxSteps    = 1000
	maxDuration = 7 * 24 * time.Hour
	// minRetry is the shortest retryPeriod, maxAttempts how often all replicas
	// together may come to try in a run.
	minRetry    = 10 * time.Millisecond
	maxAttempts = 10_000_000
)

// Parse reads a scenario, as YAML or JSON. The error names every field that is
// wrong.
func Parse(text []byte) (*Scenario, error) {
	var s Scenario
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	if err := yaml.UnmarshalStrict(text, &s); err != nil {
		return nil, err
	}
	s.complete()
	return &s, s.validate().ToAggregate()
}

func (s *Scenario) complete() {
	def := func(d *metav1.Duration, value time.Duration) {
		if d.Duration == 0 {
			d.Duration = value
		}
	}
	def(&s.Timings.LeaseDuration, 15*time.Second)
	def(&s.Timings.RenewDeadline, 10*time.Second)
	def(&s.Timings.RetryPeriod, 2*time.Second)
	def(&s.Timings.Restart, time.Second)
	for i := range s.Steps {
		if r := s.Steps[i].Rollout; r != nil {
			def(&r.Ready, 10*time.Second)
		}
	}
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return int(a.At.Duration - b.At.Duration) })
}

// Key is the Lease's.
func (s *Scenario) Key() types.NamespacedName {
	for i := range s.Lease {
		if s.Lease[i] == '/' {
			return types.NamespacedName{Namespace: s.Lease[:i], Name: s.Lease[i+1:]}
		}
	}
	return types.NamespacedName{}
}

func (s *Scenario) validate() field.ErrorList {
	var errs field.ErrorList
	if key := s.Key(); key.Namespace == "" || key.Name == "" {
		errs = append(errs, field.Invalid(field.NewPath("lease"), s.Lease, "must be NAMESPACE/NAME"))
	}
	if s.Duration.Duration <= 0 || s.Duration.Duration > maxDuration {
		errs = append(errs, field.Invalid(field.NewPath("duration"), s.Duration.Duration.String(), "must be positive, and at most "+maxDuration.String()))
	}
	errs = append(errs, s.Timings.validate(field.NewPath("timings"))...)
	if len(errs) == 0 {
		errs = append(errs, s.validateAttempts()...)
	}
	errs = append(errs, s.validateReplicas(field.NewPath("replicas"))...)
	for i := range s.APIServers {
		errs = append(errs, checkVersion(field.NewPath("apiServers").Index(i).Child("version"), s.APIServers[i].Version)...)
	}
	if len(s.Steps) > maxSteps {
		errs = append(errs, field.TooMany(field.NewPath("steps"), len(s.Steps), maxSteps))
	}
	for i := range s.Steps {
		errs = append(errs, s.validateStep(&s.Steps[i], field.NewPath("steps").Index(i))...)
	}
	return errs
}

// validate holds what client-go demands, without which nothing can be elected.
func (t *Timings) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.LeaseDuration.Duration <= t.RenewDeadline.Duration {
		errs = append(errs, field.Invalid(path.Child("leaseDuration"), t.LeaseDuration.Duration.String(), "must be longer than renewDeadline"))
	}
	if t.LeaseDuration.Duration%time.Second != 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDuration"), t.LeaseDuration.Duration.String(), "must be whole seconds"))
	}
	switch retry := t.RetryPeriod.Duration; {
	case retry < minRetry || retry > maxDuration:
		errs = append(errs, field.Invalid(path.Child("retryPeriod"), retry.String(), "must be at least "+minRetry.String()+", and at most "+maxDuration.String()))
	case t.RenewDeadline.Duration <= retry*6/5:
		errs = append(errs, field.Invalid(path.Child("renewDeadline"), t.RenewDeadline.Duration.String(), "must be longer than 1.2 times retryPeriod"))
	}
	errs = append(errs, checkLength(path.Child("leaseDuration"), t.LeaseDuration)...)
	errs = append(errs, checkLength(path.Child("start"), t.Start)...)
	return append(errs, checkLength(path.Child("restart"), t.Restart)...)
}

// checkLength checks how long something takes.
func checkLength(path *field.Path, d metav1.Duration) field.ErrorList {
	switch {
	case d.Duration < 0:
		return field.ErrorList{field.Invalid(path, d.Duration.String(), "must not be negative")}
	case d.Duration > maxDuration:
		return field.ErrorList{field.Invalid(path, d.Duration.String(), "must be at most "+maxDuration.String())}
	}
	return nil
}

// validateAttempts bounds what there is to play.
func (s *Scenario) validateAttempts() field.ErrorList {
	each := int64(s.Duration.Duration / s.Timings.RetryPeriod.Duration)
	if each*int64(len(s.Replicas)) <= maxAttempts {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("duration"), s.Duration.Duration.String(), fmt.Sprintf(
		"is too long for %d replicas that try every %s: together they may try %d times", len(s.Replicas), s.Timings.RetryPeriod.Duration, maxAttempts))}
}

func (s *Scenario) validateReplicas(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Replicas) == 0 {
		errs = append(errs, field.Required(path, "name at least one"))
	}
	if len(s.Replicas) > maxReplicas {
		errs = append(errs, field.TooMany(path, len(s.Replicas), maxReplicas))
	}
	names := map[string]bool{}
	for i := range s.Replicas {
		r := &s.Replicas[i]
		switch {
		case r.Name == "" || r.Name == Leader:
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), r.Name, "must be a name, and not "+Leader))
		case names[r.Name]:
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), r.Name))
		}
		names[r.Name] = true
		errs = append(errs, checkVersion(path.Index(i).Child("version"), r.Version)...)
	}
	return errs
}

func checkVersion(path *field.Path, version string) field.ErrorList {
	if version == "" {
		return nil
	}
	if problem := picker.ParseVersion(version).Problem(); problem != "" {
		return field.ErrorList{field.Invalid(path, version, problem)}
	}
	return nil
}

func (s *Scenario) validateStep(step *Step, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if step.At.Duration < 0 || step.At.Duration > s.Duration.Duration {
		errs = append(errs, field.Invalid(path.Child("at"), step.At.Duration.String(), "must be within the duration"))
	}
	given := 0
	outage := func(name string, o *Outage) {
		if o != nil {
			given++
			errs = append(errs, s.validateOutage(o, path.Child(name))...)
		}
	}
	outage("crash", step.Crash)
	outage("lose", step.Lose)
	outage("cutOff", step.CutOff)
	if r := step.Replace; r != nil {
		given++
		onNode := func(replica Replica) bool { return replica.Node == r.Node }
		if r.Node == "" || !slices.ContainsFunc(s.Replicas, onNode) {
			errs = append(errs, field.Invalid(path.Child("replace", "node"), r.Node, "no replica is on it"))
		}
		errs = append(errs, checkVersion(path.Child("replace", "version"), r.Version)...)
		errs = append(errs, checkLength(path.Child("replace", "down"), r.Down)...)
	}
	if r := step.Rollout; r != nil {
		given++
		errs = append(errs, checkVersion(path.Child("rollout", "version"), r.Version)...)
		errs = append(errs, checkLength(path.Child("rollout", "ready"), r.Ready)...)
	}
	if given != 1 {
		errs = append(errs, field.Invalid(path, given, "give just one of replace, crash, lose, cutOff and rollout"))
	}
	return errs
}

func (s *Scenario) validateOutage(o *Outage, path *field.Path) field.ErrorList {
	errs := checkLength(path.Child("for"), o.For)
	switch {
	case (o.Replica == "") == (o.Zone == ""):
		errs = append(errs, field.Invalid(path, o.Replica, "give either replica or zone"))
	case o.Replica == Leader:
	case o.Replica != "" && !slices.ContainsFunc(s.Replicas, func(r Replica) bool { return r.Name == o.Replica }):
		errs = append(errs, field.NotFound(path.Child("replica"), o.Replica))
	case o.Zone != "" && !slices.ContainsFunc(s.Replicas, func(r Replica) bool { return r.Zone == o.Zone }):
		errs = append(errs, field.NotFound(path.Child("zone"), o.Zone))
	}
	return errs
}
