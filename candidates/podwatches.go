package candidates

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxNamespaceScopes is for how many namespaces a policy of the cluster gets a
// watch each. If it selects more, one watch on its Pods in all namespaces
// costs the API server less.
const maxNamespaceScopes = 8

// podWatch is what runs for one scope.
type podWatch struct {
	pods *watched
	// revisions are the watches on the owners of the Pods' revisions, while
	// some policy looks at revisions.
	revisions []*watched
}

// scopes are what has to be watched for a policy (nil: nothing).
func (c *Cache) scopes(p *Policy) []scope {
	if p == nil || !p.Governs() || p.pods == nil {
		return nil
	}
	if p.Ref.Namespace != "" {
		return []scope{{p.Ref.Namespace, p.pods.key}}
	}
	if p.namespaces == nil || p.namespaces.Empty() {
		return []scope{{"", p.pods.key}}
	}
	var scopes []scope
	for name, set := range c.state.namespaces {
		if !p.governsNamespace(namespaceLabels(name, set)) {
			continue
		}
		if scopes = append(scopes, scope{name, p.pods.key}); len(scopes) > maxNamespaceScopes {
			return []scope{{"", p.pods.key}}
		}
	}
	return scopes
}

// rescope watches what now needs and ends what only old needed. What both
// need goes on. Both may be nil, or the same after a Namespace was changed.
func (c *Cache) rescope(old, now *Policy) {
	if now != nil && now.Governs() {
		c.watchNodes()
	}
	wanted := c.scopes(now)
	for _, s := range wanted {
		c.use(s, now)
	}
	for _, s := range c.scopesOf[old] {
		if old != now || !slices.Contains(wanted, s) {
			c.unuse(s, old)
		}
	}
	delete(c.scopesOf, old)
	if len(wanted) > 0 {
		c.scopesOf[now] = wanted
	}
}

// use has a scope watched for a policy.
func (c *Cache) use(s scope, p *Policy) {
	sc := c.state.scopes[s]
	if sc == nil {
		sc = c.watchPods(s)
	}
	sc.users[p] = struct{}{}
	if p.pods.LeaseName != nil {
		sc.pool.indexLeases(*p.pods.LeaseName)
		sc.departed.pool.indexLeases(*p.pods.LeaseName)
	}
	if w := c.podWatches[s]; p.needs.revisions && w.revisions == nil {
		w.revisions = c.watchRevisions(s, sc)
	}
}

// unuse ends the scope's watches if p was the last policy that needed it.
func (c *Cache) unuse(s scope, p *Policy) {
	sc, w := c.state.scopes[s], c.podWatches[s]
	delete(sc.users, p)
	if len(sc.users) == 0 {
		c.unwatch(w.pods)
		delete(c.state.scopes, s)
		delete(c.podWatches, s)
	}
	if !needRevisions(sc.users) {
		for _, r := range w.revisions {
			c.unwatch(r)
		}
		w.revisions = nil
		clear(sc.revisions)
	}
}

func needRevisions(users map[*Policy]struct{}) bool {
	for p := range users {
		if p.needs.revisions {
			return true
		}
	}
	return false
}

func (c *Cache) watchPods(s scope) *podScope {
	sc := &podScope{pool: newPodPool(), revisions: revisions{}, users: map[*Policy]struct{}{}, departed: newDeparted()}
	w := &watched{what: describeScope("Pods", s)}
	c.state.scopes[s], c.podWatches[s] = sc, &podWatch{pods: w}
	pods := newMirror(c.update, trimPod, func(_ types.NamespacedName, old, now *corev1.Pod) { c.state.podChanged(sc, old, now) })
	pods.departed = sc.departed.add
	follow(c, w, listWatch(c.clients.kubernetes.CoreV1().RESTClient(), "pods", s.namespace, s.selector), &corev1.Pod{}, pods)
	sc.filled = w.filled
	return sc
}

// watchRevisions watches the ReplicaSets and ControllerRevisions that have the
// same labels as the Pods, which those that the Pods were made from have. They
// are only a help: without them the Pods' age tells the order.
func (c *Cache) watchRevisions(s scope, sc *podScope) []*watched {
	changed := func(_ types.NamespacedName, old, now *numbered) {
		sc.revisions.set(old, now)
		for owner := range owners(old, now) {
			for _, pod := range sc.pool.byOwner[owner] {
				c.state.touchPod(sc, pod)
			}
		}
	}
	replicaSets := &watched{what: describeScope("ReplicaSets", s), optional: true}
	follow(c, replicaSets, metadataListWatch(c.clients.metadata, appsv1.SchemeGroupVersion.WithResource("replicasets"), s.namespace, s.selector),
		&metav1.PartialObjectMetadata{}, newMirror(c.update, trimReplicaSet, changed))
	controllerRevisions := &watched{what: describeScope("ControllerRevisions", s), optional: true}
	follow(c, controllerRevisions, listWatch(c.clients.kubernetes.AppsV1().RESTClient(), "controllerrevisions", s.namespace, s.selector),
		&appsv1.ControllerRevision{}, newMirror(c.update, trimControllerRevision, changed))
	return []*watched{replicaSets, controllerRevisions}
}

// namespaceChanged takes up a Namespace, which policies of the cluster may
// begin or stop to select.
func (c *Cache) namespaceChanged(name string, old, now *labelled) {
	if !c.state.namespaceChanged(name, old, now) {
		return
	}
	for _, p := range c.state.policies.policies {
		if p.namespaces != nil && p.Governs() {
			c.rescope(p, p)
		}
	}
}
