package api

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is one kind of object.
type resource struct {
	schema.GroupVersionKind
	// status says that the status is written by itself.
	status bool
}

// Names of the resources, as group, version and plural.
const (
	Leases                  = "coordination.k8s.io/v1/leases"
	Pods                    = "v1/pods"
	Nodes                   = "v1/nodes"
	Namespaces              = "v1/namespaces"
	ReplicaSets             = "apps/v1/replicasets"
	ControllerRevisions     = "apps/v1/controllerrevisions"
	ElectionPolicies        = "leasewarden.dev/v1alpha1/electionpolicies"
	ClusterElectionPolicies = "leasewarden.dev/v1alpha1/clusterelectionpolicies"
	Candidates              = "leasewarden.dev/v1alpha1/candidates"
	Elections               = "leasewarden.dev/v1alpha1/elections"
	Validating              = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	Mutating                = "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
)

var resources = map[string]resource{
	Leases:                  {GroupVersionKind: kind(Leases, "Lease")},
	Pods:                    {GroupVersionKind: kind(Pods, "Pod")},
	Nodes:                   {GroupVersionKind: kind(Nodes, "Node")},
	Namespaces:              {GroupVersionKind: kind(Namespaces, "Namespace")},
	ReplicaSets:             {GroupVersionKind: kind(ReplicaSets, "ReplicaSet")},
	ControllerRevisions:     {GroupVersionKind: kind(ControllerRevisions, "ControllerRevision")},
	ElectionPolicies:        {GroupVersionKind: kind(ElectionPolicies, "ElectionPolicy"), status: true},
	ClusterElectionPolicies: {GroupVersionKind: kind(ClusterElectionPolicies, "ClusterElectionPolicy"), status: true},
	Candidates:              {GroupVersionKind: kind(Candidates, "Candidate")},
	Elections:               {GroupVersionKind: kind(Elections, "Election"), status: true},
	Validating:              {GroupVersionKind: kind(Validating, "ValidatingWebhookConfiguration")},
	Mutating:                {GroupVersionKind: kind(Mutating, "MutatingWebhookConfiguration")},
}

func kind(resource, kind string) schema.GroupVersionKind {
	parts := strings.Split(resource, "/")
	if len(parts) == 2 {
		return schema.GroupVersionKind{Version: parts[0], Kind: kind}
	}
	return schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: kind}
}

// target is what a request is about.
type target struct {
	resource, namespace, name, sub string
	// group is set for a question after what a group has.
	group string
}

// parsePath takes the path of a request apart.
func parsePath(path string) target {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group, rest := "", parts[1:]
	switch {
	case parts[0] == "api" && len(parts) > 1:
		group, rest = parts[1], parts[2:]
	case len(parts) > 2:
		group, rest = parts[1]+"/"+parts[2], parts[3:]
	}
	t := target{group: group}
	if len(rest) > 2 && rest[0] == "namespaces" {
		t.namespace, rest = rest[1], rest[2:]
	}
	rest = append(rest, "", "", "")
	if rest[0] != "" {
		t.resource = group + "/" + rest[0]
	}
	t.name, t.sub = rest[1], rest[2]
	return t
}

// Kinds tells of all kinds.
func Kinds(tell func(kind schema.GroupVersionKind, namespaced bool)) {
	for name, r := range resources {
		switch name {
		case Nodes, Namespaces, ClusterElectionPolicies, Validating, Mutating:
			tell(r.GroupVersionKind, false)
		default:
			tell(r.GroupVersionKind, true)
		}
	}
}
