package candidates

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	. "github.com/onsi/gomega"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestIdentify(t *testing.T) {
	long := "a-rather-long-name-that-a-statefulset-of-somebody-gave-it-12345-67"
	truncated := strings.TrimRight(long[:63], "-.")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-7", Labels: map[string]string{corev1.LabelHostname: "IP-10-0-0-7.local"}}}
	pattern := func(p string) func(*v1alpha1.ElectionPolicySpec) {
		return func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.Pods.IdentityPattern = p }
	}
	tests := []struct {
		name     string
		policy   []func(*v1alpha1.ElectionPolicySpec)
		objects  []runtime.Object
		identity string
		want     string
		problem  string
	}{
		{name: "client-go", objects: []runtime.Object{webPod("web-1")}, identity: "web-1_0f8b", want: "web-1"},
		{name: "hostname alone", objects: []runtime.Object{webPod("web-1")}, identity: "web-1", want: "web-1"},
		{name: "a prefix is another Pod", objects: []runtime.Object{webPod("web-1"), webPod("web-10")}, identity: "web-10_0f8b", want: "web-10"},
		{name: "nor is it the other way round", objects: []runtime.Object{webPod("web-10")}, identity: "web-1_0f8b", problem: notRegistered},
		{name: "a prefix with another separator", objects: []runtime.Object{webPod("web-1")}, identity: "web-1.ns_0f8b", problem: notRegistered},
		{name: "empty", objects: []runtime.Object{webPod("web-1")}, identity: "", problem: notRegistered},
		{name: "only a suffix", objects: []runtime.Object{webPod("web-1")}, identity: "_web-1", problem: notRegistered},
		{name: "spec.hostname", objects: []runtime.Object{webPod("x", func(p *corev1.Pod) { p.Spec.Hostname = "leader" })}, identity: "leader_1", want: "x"},
		{name: "POD_NAME beside spec.hostname", objects: []runtime.Object{webPod("x", func(p *corev1.Pod) { p.Spec.Hostname = "leader" })}, identity: "x", want: "x"},
		{name: "hostnameOverride", objects: []runtime.Object{webPod("x", func(p *corev1.Pod) { p.Spec.HostnameOverride = ptr("a.b.c") })}, identity: "a.b.c_1", want: "x"},
		{name: "truncated hostname", objects: []runtime.Object{webPod(long)}, identity: truncated + "_1", want: long},
		{name: "whole name of a truncated one", objects: []runtime.Object{webPod(long)}, identity: long, want: long},
		{name: "FQDN", objects: []runtime.Object{webPod("web-1", func(p *corev1.Pod) {
			p.Spec.SetHostnameAsFQDN, p.Spec.Subdomain = ptr(true), "web"
		})}, identity: "web-1.web.ns.svc.cluster.local_1", want: "web-1"},
		{name: "FQDN of another namespace", objects: []runtime.Object{webPod("web-1", func(p *corev1.Pod) {
			p.Spec.SetHostnameAsFQDN, p.Spec.Subdomain = ptr(true), "web"
		})}, identity: "web-1.web.other.svc.cluster.local_1", problem: notRegistered},
		{name: "host network", objects: []runtime.Object{webPod("a", hostNetwork("node-1")), webPod("b", hostNetwork("node-2"))}, identity: "node-2_1", want: "b"},
		{name: "host network by the node's hostname, in any case", objects: []runtime.Object{webPod("a", hostNetwork("ip-10-0-0-7")), node}, identity: "ip-10-0-0-7.LOCAL_1", want: "a"},
		{name: "node name without host network", objects: []runtime.Object{webPod("a")}, identity: "node-1_1", problem: notRegistered},
		{name: "two on one node's network", objects: []runtime.Object{webPod("a", hostNetwork("node-1")), webPod("b", hostNetwork("node-1"))},
			identity: "node-1_1", problem: "could be Pod a and Pod b (a token bound to one of the Pods would tell, or leaseName in the policy if they belong to different Leases)"},
		{name: "one of two on one node's network has ended", objects: []runtime.Object{webPod("a", hostNetwork("node-1"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), webPod("b", hostNetwork("node-1"))},
			identity: "node-1_1", want: "b"},
		{name: "pattern", policy: []func(*v1alpha1.ElectionPolicySpec){pattern(`(?P<hostname>[^/]+)/[0-9]+`)}, objects: []runtime.Object{webPod("web-1")}, identity: "web-1/77", want: "web-1"},
		{name: "pattern must match the whole", policy: []func(*v1alpha1.ElectionPolicySpec){pattern(`(?P<hostname>[^/]+)/[0-9]+`)}, objects: []runtime.Object{webPod("web-1")}, identity: "web-1/77x", problem: notRegistered},
		{name: "pattern replaces the usual forms", policy: []func(*v1alpha1.ElectionPolicySpec){pattern(`(?P<hostname>[^/]+)/[0-9]+`)}, objects: []runtime.Object{webPod("web-1")}, identity: "web-1_77", problem: notRegistered},
		{name: "pattern of alternatives is anchored as a whole", policy: []func(*v1alpha1.ElectionPolicySpec){pattern(`x-(?P<hostname>.+)|y`)}, objects: []runtime.Object{webPod("web-1")}, identity: "x-web-1", want: "web-1"},
		{name: "LeaseCandidate", objects: []runtime.Object{leaseCandidate("host_1", "1.37.0", "1.37.0")}, identity: "host_1", want: "host_1"},
		{name: "LeaseCandidate of another process", objects: []runtime.Object{leaseCandidate("host_1", "1.37.0", "1.37.0")}, identity: "host_2", problem: notRegistered},
		{name: "Candidate by identity", objects: []runtime.Object{candidate("vm", func(c *v1alpha1.CandidateSpec) { c.Identity = "vm/1" })}, identity: "vm/1", want: "vm"},
		{name: "Candidate by hostname", objects: []runtime.Object{candidate("vm", func(c *v1alpha1.CandidateSpec) { c.Hostname = "vm.example" })}, identity: "vm.example_9", want: "vm"},
		{name: "the longer hostname with underscores", objects: []runtime.Object{
			candidate("short", func(c *v1alpha1.CandidateSpec) { c.Hostname = "a" }),
			candidate("longer", func(c *v1alpha1.CandidateSpec) { c.Hostname = "a_b" })}, identity: "a_b_c", want: "longer"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			v := viewOf(t, append(tc.objects, electionPolicy("p", tc.policy...))...)
			id := v.Identify(tc.identity, nil)
			g.Expect(id.Candidate).To(Equal(tc.want))
			g.Expect(id.Problem).To(Equal(tc.problem))
			g.Expect(id.Proved).To(BeFalse())
		})
	}
}

func TestIdentifyByToken(t *testing.T) {
	host := hostNetwork("node-1")
	tests := []struct {
		name     string
		verify   bool
		identity string
		user     authenticationv1.UserInfo
		want     Identification
	}{
		{"confirms", true, "web-1_1", boundTo("ns", "web-1", "uid-web-1"), Identification{Candidate: "web-1", Proved: true}},
		{"refutes", true, "web-10_1", boundTo("ns", "web-1", "uid-web-1"), Identification{Problem: "claims Pod web-10, but its token is bound to Pod web-1"}},
		{"does not refute unless asked to", false, "web-10_1", boundTo("ns", "web-1", "uid-web-1"), Identification{Candidate: "web-10"}},
		{"knows an unknown form", true, "something else", boundTo("ns", "web-1", "uid-web-1"), Identification{Candidate: "web-1", Proved: true}},
		{"knows an unknown form without verify", false, "something else", boundTo("ns", "web-1", "uid-web-1"), Identification{Candidate: "web-1", Proved: true}},
		{"an earlier Pod of the name", true, "web-1_1", boundTo("ns", "web-1", "uid-before"),
			Identification{Problem: "claims Pod web-1, but its token is bound to another Pod of that name (UID uid-before)"}},
		{"a Pod of that name in another namespace", true, "web-1_1", boundTo("other", "web-1", "uid-web-1"),
			Identification{Problem: "claims Pod web-1, but its token is bound to Pod other/web-1"}},
		{"a Pod that is no candidate", true, "web-1_1", boundTo("ns", "job", "uid-job"), Identification{Problem: "claims Pod web-1, but its token is bound to Pod job"}},
		{"a Pod that is no candidate and claims nothing known", true, "job_1", boundTo("ns", "job", "uid-job"), Identification{Problem: notRegistered}},
		{"settles who of two on one node", true, "node-1_1", boundTo("ns", "host-b", "uid-host-b"), Identification{Candidate: "host-b", Proved: true}},
		{"a registered instance that is no Pod", true, "vm", boundTo("other", "agent", "uid-agent"), Identification{Candidate: "vm"}},
		{"a Pod that claims to be that", true, "vm", boundTo("ns", "web-1", "uid-web-1"), Identification{Problem: "claims Candidate vm, but its token is bound to Pod web-1"}},
		{"not a service account", true, "web-10_1", authenticationv1.UserInfo{Username: "admin", Extra: boundTo("ns", "web-1", "uid-web-1").Extra}, Identification{Candidate: "web-10"}},
		{"not bound", true, "web-1_1", authenticationv1.UserInfo{Username: "system:serviceaccount:ns:web"}, Identification{Candidate: "web-1"}},
		{"no UID", true, "web-1_1", boundTo("ns", "web-10", ""), Identification{Candidate: "web-1"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			v := viewOf(t, webPod("web-1"), webPod("web-10"), webPod("host-a", host), webPod("host-b", host),
				candidate("vm", func(c *v1alpha1.CandidateSpec) { c.Identity = "vm" }),
				electionPolicy("p", func(s *v1alpha1.ElectionPolicySpec) { s.Candidates.VerifyIdentity = &tc.verify }))
			NewWithT(t).Expect(v.Identify(tc.identity, &tc.user)).To(Equal(tc.want))
		})
	}
}
