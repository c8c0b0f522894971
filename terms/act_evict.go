package terms

import (
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// evictionBackoff is the wait after an eviction: for the Pod to go, or for the
// PodDisruptionBudgets to allow it.
var evictionBackoff = wait.Backoff{Duration: 10 * time.Second, Factor: 2, Steps: 5, Cap: 2 * time.Minute}

// evict asks for the eviction of the holder's Pod. That a PodDisruptionBudget
// forbids it is an answer, and no error.
func (p *Publisher) evict(ctx context.Context, key types.NamespacedName, pub *publication, s *situation, plan *plan, out *outcome) error {
	err := p.Client.SubResource("eviction").Create(ctx, plan.pod, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: plan.pod.Namespace, Name: plan.pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(plan.pod.UID))},
	})
	refused := apierrors.IsTooManyRequests(err)
	if err != nil && !refused {
		return err
	}
	if pub.acts.backoff.Duration == 0 || !refused {
		pub.acts.backoff = evictionBackoff
	}
	pub.acts.evictAfter = s.now.Add(pub.acts.backoff.Step())
	out.again = pub.acts.evictAfter
	if refused {
		plan.condition = condition(v1alpha1.ConditionSteppingDown, true, reasonEvictionRefused,
			fmt.Sprintf("the eviction of %s was refused and is tried again: %s", s.holderName(), apiMessage(err)))
		plan.note = plan.condition.Message
		out.stepping = plan.condition
		return nil
	}
	p.leases.moves.hold(key, pub.acts.evictAfter)
	return nil
}

// apiMessage is what the API server says, with the causes of it.
func apiMessage(err error) string {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return err.Error()
	}
	message := status.Status().Message
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			message += ": " + cause.Message
		}
	}
	return message
}
