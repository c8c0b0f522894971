package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// at is a moment, in seconds after the first.
func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func hasLabel(key string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists}
}

// entry is one event of a log that a test writes.
type entry map[string]any

func (e entry) with(key string, value any) entry {
	e[key] = value
	return e
}

func (e entry) code(code int, message string) entry {
	return e.with("responseStatus", map[string]any{"code": code, "message": message})
}

func (e entry) without(key string) entry {
	delete(e, key)
	return e
}

func newEntry(seconds float64, verb, resource, group, name string, object any) entry {
	return entry{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "stage": "ResponseComplete", "verb": verb,
		"user":           map[string]any{"username": "system:serviceaccount:ns:app"},
		"objectRef":      map[string]any{"resource": resource, "apiGroup": group, "namespace": "ns", "name": name},
		"responseStatus": map[string]any{"code": 200}, "requestObject": object,
		"stageTimestamp": at(seconds).Format(time.RFC3339Nano),
	}
}

// lease is a Lease as a holder writes it. "" is a release.
func lease(seconds, acquired float64, holder string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}}
	duration := int32(15)
	renew, acquire := metav1.NewMicroTime(at(seconds)), metav1.NewMicroTime(at(acquired))
	l.Namespace, l.Name = "ns", "app"
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &duration, RenewTime: &renew, AcquireTime: &acquire}
	return l
}

func acquires(seconds float64, holder string) entry {
	return newEntry(seconds, "update", "leases", "coordination.k8s.io", "app", lease(seconds, seconds, holder))
}

func creates(seconds float64, holder string) entry {
	return acquires(seconds, holder).with("verb", "create")
}

func renews(seconds, acquired float64, holder string) entry {
	return newEntry(seconds, "update", "leases", "coordination.k8s.io", "app", lease(seconds, acquired, holder))
}

func releases(seconds float64) entry { return acquires(seconds, "") }

func deletes(seconds float64) entry { return acquires(seconds, "").with("verb", "delete") }

// pod is a Pod named "name-version", such as a-v1.36.0.
func pod(name string) *corev1.Pod {
	_, version, _ := strings.Cut(name, "-")
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}
	p.Namespace, p.Name = "ns", name
	p.Labels = map[string]string{"app": "app", "version": version}
	p.CreationTimestamp = metav1.NewTime(at(-100))
	p.Spec.NodeName = "node-" + name[:1]
	p.Status.Phase = corev1.PodRunning
	return p
}

func podIs(seconds float64, p *corev1.Pod) entry {
	return newEntry(seconds, "patch", "pods", "", p.Name, map[string]any{"status": map[string]any{}}).
		with("level", "RequestResponse").with("responseObject", p)
}

func terminating(p *corev1.Pod, seconds float64) *corev1.Pod {
	p = p.DeepCopy()
	deleted, grace := metav1.NewTime(at(seconds)), int64(30)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &deleted, &grace
	return p
}

func text(t *testing.T, log []entry) string {
	t.Helper()
	var b strings.Builder
	for _, e := range log {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// policy makes candidates of Pods.
func policy(strategy v1alpha1.StrategyName) *v1alpha1.ElectionPolicy {
	p := &v1alpha1.ElectionPolicy{}
	p.Namespace, p.Name = "ns", "p"
	p.Spec.Leases.Names = []string{"app"}
	p.Spec.Strategy.Name = strategy
	p.Spec.Candidates.Pods = &v1alpha1.PodCandidates{Version: &v1alpha1.VersionSource{FromLabel: "version"}}
	p.Spec.Candidates.Pods.Selector.MatchLabels = map[string]string{"app": "app"}
	return p
}

// objects are a policy and Pods.
func objects(p *v1alpha1.ElectionPolicy, pods ...string) *candidates.ObjectSet {
	set := candidates.NewObjectSet()
	set.Add(p)
	for _, name := range pods {
		set.Add(pod(name))
	}
	return set
}

func run(t *testing.T, o Options, log string) *Report {
	t.Helper()
	o.Paths, o.Stdin = []string{"-"}, strings.NewReader(log)
	a, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// describe is a course in short: "a 0-5 Released, b ~6-".
func describe(c *Course) string {
	if c == nil {
		return "not known"
	}
	var all []string
	for i := range c.Terms {
		term := &c.Terms[i]
		s := term.Holder + " "
		if term.Estimated {
			s += "~"
		}
		s += fmt.Sprintf("%g-", term.Start.Sub(start).Seconds())
		if term.End != nil {
			s += fmt.Sprintf("%g %s", term.End.Sub(start).Seconds(), term.Reason)
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}
