package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// turned is the contest whose policy is turned round: it has electors of two
// versions.
const turned = "releases"

// editPolicy has a policy prefer the oldest version instead of the newest, or the
// other way round: the leader has to make way.
var editPolicy = &fault{
	name: "policy edited",
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		policy := &v1alpha1.ElectionPolicy{}
		if err := s.site.client.Get(ctx, ctrlclient.ObjectKey{Namespace: namespace, Name: turned}, policy); err != nil {
			return nil, err
		}
		next := v1alpha1.OldestEmulationVersion
		if policy.Spec.Strategy.Name == next {
			next = v1alpha1.NewestVersion
		}
		s.journal.add(time.Now(), turned, "the policy goes by %s now", next)
		patch := fmt.Appendf(nil, `{"spec":{"strategy":{"name":%q}}}`, next)
		return nil, s.site.client.Patch(ctx, policy, ctrlclient.RawPatch(types.MergePatchType, patch))
	},
}
