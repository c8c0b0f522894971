package production

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// right is one that a role grants: a verb on one resource.
type right struct {
	verb, group, resource string
	// namespace and name narrow it down. Empty: they do not.
	namespace, name string
}

func (r right) String() string {
	s := fmt.Sprintf("%s %s", r.verb, r.resource)
	if r.group != "" {
		s += "." + r.group
	}
	if r.name != "" {
		s += " " + r.name
	}
	if r.namespace != "" {
		s += " in " + r.namespace
	}
	return s
}

// allows reports whether a request is one that needs the right. A watch begins with
// all that there is, but where the API server cannot do that (WatchList), and then
// the same informer lists.
func (r right) allows(q request) bool {
	verb := r.verb == q.verb || r.verb == "list" && q.verb == "watch"
	return verb && r.group == q.group && r.resource == q.resource &&
		(r.namespace == "" || r.namespace == q.namespace) && (r.name == "" || r.name == q.name)
}

// granted are the rights of Leasewarden's roles, as they are installed.
func (s *site) granted(t *testing.T) []right {
	t.Helper()
	g := NewWithT(t)
	rbac := s.kube.RbacV1()
	cluster, err := rbac.ClusterRoles().Get(t.Context(), "leasewarden", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	own, err := rbac.Roles(installation.Namespace).Get(t.Context(), "leasewarden", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return append(rights(cluster.Rules, ""), rights(own.Rules, installation.Namespace)...)
}

func rights(rules []rbacv1.PolicyRule, namespace string) (all []right) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all = append(all, right{verb: verb, group: group, resource: resource, namespace: namespace, name: name})
					}
				}
			}
		}
	}
	return all
}
