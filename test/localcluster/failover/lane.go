package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

const (
	// appName is the name of each lane's Lease and policy, and the label of its
	// Pods.
	appName = "app"
	// container is the name of the only container of each Pod.
	container = "elector"
	// poll is how often is looked for what is waited for. Figures come from the
	// electors' own records, and do not depend on it.
	poll = 100 * time.Millisecond
	// patience bounds each wait.
	patience = 3 * time.Minute
)

// client-go's defaults, which are those of the components of Kubernetes.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// errStalled is the end of a wait that was in vain.
var errStalled = errors.New("it does not come to an end")

// lane is a Namespace with one Lease, on which rounds are played one after the
// other. Lanes do not depend on each other, so that many run at once.
type lane struct {
	*bench
	*contender
	namespace string
}

// newLane makes the Namespace, and lets its Pods elect there.
func (b *bench) newLane(ctx context.Context, c *contender) (*lane, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: c.key + "-"}}
	if err := b.client.Create(ctx, namespace); err != nil {
		return nil, err
	}
	l := &lane{bench: b, contender: c, namespace: namespace.Name}
	role := &rbacv1.Role{ObjectMeta: l.meta(appName), Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases", "leasecandidates"},
		Verbs: []string{"create", "get", "list", "watch", "update"},
	}}}
	if err := b.client.Create(ctx, role); err != nil {
		return nil, err
	}
	return l, b.client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: l.meta(appName),
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: l.namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: appName},
	})
}

// remove takes the lane's Pods away from those that are measured next.
func (l *lane) remove(ctx context.Context) error {
	return l.client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.namespace}})
}

func (l *lane) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: l.namespace, Name: name}
}

// govern puts a governed lane's Lease under a policy, and waits until the API
// server asks Leasewarden about it.
func (l *lane) govern(ctx context.Context, strategy v1alpha1.StrategyName, preemption v1alpha1.Preemption) error {
	if !l.governed {
		return nil
	}
	err := l.client.Create(ctx, &v1alpha1.ElectionPolicy{ObjectMeta: l.meta(appName), Spec: v1alpha1.ElectionPolicySpec{
		Leases: v1alpha1.LeaseSelection{Names: []string{appName}},
		Candidates: v1alpha1.CandidateSources{Pods: &v1alpha1.PodCandidates{
			Selector: metav1.LabelSelector{MatchLabels: labels()},
			Version:  &v1alpha1.VersionSource{FromImageTag: &v1alpha1.ImageTagSource{Container: container}},
		}},
		Strategy:   v1alpha1.Strategy{Name: strategy},
		Preemption: preemption,
	}})
	if err != nil {
		return err
	}
	return l.await(ctx, "the policy to be registered", func(ctx context.Context) (bool, error) {
		configuration, err := l.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "leasewarden", metav1.GetOptions{})
		return err == nil && strings.Contains(configuration.String(), l.namespace), nil
	})
}

// await waits until done.
func (l *lane) await(ctx context.Context, what string, done wait.ConditionWithContextFunc) error {
	err := wait.PollUntilContextTimeout(ctx, poll, patience, true, done)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: waited %v for %s: %w (%w)", l.namespace, patience, what, errStalled, err)
	}
	return err
}

func labels() map[string]string { return map[string]string{"app": appName} }
