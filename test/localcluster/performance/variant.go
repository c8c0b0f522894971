package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	grace = 20 * time.Second
	// leasewarden is the name of what Leasewarden registers, mine of what is
	// registered here in its place.
	leasewarden = "leasewarden"
	mine        = "performance"
)

// variant is what the API server has to do with a write to a Lease.
type variant struct {
	name string
	// on and off put it into effect and out of it.
	on, off func(context.Context) error
}

// contested is true for a write that gives a Lease another holder, as the
// condition that Leasewarden registers.
const contested = `object.?spec.?holderIdentity.orValue("") != "" && ` +
	`object.?spec.?holderIdentity.orValue("") != oldObject.?spec.?holderIdentity.orValue("")`

// nothing is the API server as it is.
func (b *bench) nothing() variant {
	return variant{name: "nothing installed", on: b.none, off: b.none}
}

func (b *bench) none(context.Context) error { return nil }

// bare is a webhook with one match condition, for all Leases. It allows
// everything that it is asked about, mutating or not.
func (b *bench) bare(name string, mutates bool) variant {
	objects := []ctrlclient.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: mine},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validating.performance.example", ClientConfig: b.allowAll.clientConfig(), Rules: leaseRules(),
			FailurePolicy: ptr.To(admissionregistrationv1.Ignore), SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds: ptr.To[int32](1), AdmissionReviewVersions: []string{"v1"},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "contested", Expression: contested}},
		}},
	}}
	if mutates {
		objects = append(objects, &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: mine},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "mutating.performance.example", ClientConfig: b.allowAll.clientConfig(), Rules: leaseRules(),
				FailurePolicy: ptr.To(admissionregistrationv1.Ignore), SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
				TimeoutSeconds: ptr.To[int32](1), AdmissionReviewVersions: []string{"v1"},
				MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "contested", Expression: contested}},
			}},
		})
	}
	return b.objects(name, objects)
}

func leaseRules() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{coordinationv1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{"leases"},
		},
	}}
}

// policy is the ValidatingAdmissionPolicy that is nearest to what Leasewarden
// does: it knows no candidates, so that the one who may acquire is written in it.
func (b *bench) policy() variant {
	rule := fmt.Sprintf(`!(%s) || object.spec.holderIdentity.startsWith(%q)`, contested, chosenPod+"_")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: mine},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionregistrationv1.Ignore),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{
				{RuleWithOperations: leaseRules()[0]},
			}},
			Validations: []admissionregistrationv1.Validation{{Expression: rule}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: mine},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: mine, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	return b.objects("ValidatingAdmissionPolicy", []ctrlclient.Object{policy, binding})
}

// objects is the variant in which these objects are there.
func (b *bench) objects(name string, objects []ctrlclient.Object) variant {
	return variant{
		name: name,
		on: func(ctx context.Context) error {
			for _, o := range objects {
				if err := b.client.Create(ctx, o.DeepCopyObject().(ctrlclient.Object)); err != nil {
					return err
				}
			}
			return b.awaitEffect(ctx, true, arena(0))
		},
		off: func(ctx context.Context) error {
			for _, o := range objects {
				if err := b.client.Delete(ctx, o.DeepCopyObject().(ctrlclient.Object)); err != nil {
					return err
				}
			}
			return b.awaitEffect(ctx, false, arena(0))
		},
	}
}

// installed is Leasewarden with policies for the first so many arenas.
func (b *bench) installed(policies int) variant {
	return variant{
		name: fmt.Sprintf("Leasewarden, %d %s", policies, plural(policies, "policy", "policies")),
		on: func(ctx context.Context) error {
			if err := b.governArenas(ctx, policies); err != nil {
				return err
			}
			if err := b.install(ctx, 1, ""); err != nil {
				return err
			}
			return b.awaitEffect(ctx, true, arena(0), arena(policies-1))
		},
		off: func(ctx context.Context) error {
			if err := b.uninstall(ctx); err != nil {
				return err
			}
			return b.awaitEffect(ctx, false, arena(0))
		},
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// install starts so many replicas of Leasewarden, each on that many processors
// (empty: on all), and waits until they are ready and the webhook is registered.
func (b *bench) install(ctx context.Context, replicas int, processors string) error {
	if err := b.startReplicas(replicas, processors); err != nil {
		return err
	}
	for _, r := range b.warden.Replicas[:replicas] {
		if err := r.AwaitReady(ctx); err != nil {
			return err
		}
	}
	return await(ctx, "the webhook to be registered", func(ctx context.Context) (bool, error) {
		_, err := b.registered(ctx)
		return err == nil, ctrlclient.IgnoreNotFound(err)
	})
}

// registered is what Leasewarden has registered for Leases.
func (b *bench) registered(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return b.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, leasewarden, metav1.GetOptions{})
}

// uninstall ends all replicas and removes what they have registered.
func (b *bench) uninstall(ctx context.Context) error {
	for _, r := range b.warden.Replicas {
		r.Stop()
	}
	return b.unregister(ctx, leasewarden)
}

func (b *bench) unregister(ctx context.Context, name string) error {
	for _, o := range []ctrlclient.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}} {
		o.SetName(name)
		if err := ctrlclient.IgnoreNotFound(b.client.Delete(ctx, o)); err != nil {
			return err
		}
	}
	return nil
}

// awaitEffect waits until an intruder is turned away from a Lease in each of the
// namespaces, or from none.
func (b *bench) awaitEffect(ctx context.Context, effective bool, namespaces ...string) error {
	for _, namespace := range namespaces {
		err := await(ctx, "the API server to take notice in "+namespace, func(ctx context.Context) (bool, error) {
			refused, err := b.intrude(ctx, namespace)
			return refused == effective, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// intrude tries to acquire a vacant Lease as nobody's candidate, without any
// effect.
func (b *bench) intrude(ctx context.Context, namespace string) (refused bool, err error) {
	leases := b.kube.CoordinationV1().Leases(namespace)
	lease, err := leases.Get(ctx, probed, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	lease.Spec.HolderIdentity = ptr.To("intruder_1")
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || err != nil && strings.Contains(err.Error(), "denied the request") {
		return true, nil
	}
	return false, err
}

// playRounds puts one variant after the other into effect, and the other way
// round in every other round, so that no one gains by its place.
func (b *bench) playRounds(ctx context.Context, rounds int, variants []variant, play func(ctx context.Context, round int, v *variant) error) error {
	for round := range rounds {
		order := make([]*variant, len(variants))
		for i := range variants {
			order[i] = &variants[i]
		}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, v := range order {
			if err := v.on(ctx); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			if err := play(ctx, round, v); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			if err := v.off(ctx); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
		}
		b.say("%d of %d rounds", round+1, rounds)
	}
	return nil
}
