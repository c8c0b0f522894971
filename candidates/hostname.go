package candidates

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hostnameMaxLength is where the kubelet cuts off the hostname of a Pod
// (pkg/kubelet/kubelet_pods.go, truncatePodHostnameIfNeeded).
const hostnameMaxLength = 63

// maxHostLength is that of any name that is compared: a Node's, a Candidate's
// hostname, a fully qualified one. It bounds what a made-up identity costs.
const maxHostLength = 253

// hostNames are the names by which a process may know the host it runs on. A
// holder identity begins with one of them.
type hostNames struct {
	names []string
	// fqdn is how the fully qualified name starts, up to and with ".svc.": the
	// cluster's domain after it is not in the API. Empty: it has none.
	fqdn string
	// fold says that upper and lower case are the same: the API server holds a
	// node's name in lower case, the node's own hostname may differ.
	fold bool
}

// podHostNames returns what os.Hostname may say in a Pod, and the Pod's own
// name, which many components pass on as POD_NAME.
func podHostNames(pod *corev1.Pod, nodeLabels map[string]string) hostNames {
	if pod.Spec.HostNetwork {
		return nodeHostNames(pod, nodeLabels)
	}
	h := hostNames{names: []string{pod.Name}}
	name := podHostname(pod)
	if name != pod.Name {
		h.names = append(h.names, name)
	}
	if asFQDN := pod.Spec.SetHostnameAsFQDN; asFQDN != nil && *asFQDN && pod.Spec.Subdomain != "" {
		h.fqdn = name + "." + pod.Spec.Subdomain + "." + pod.Namespace + ".svc."
	}
	return h
}

// podHostname is the hostname that the kubelet gives a Pod of its own network.
func podHostname(pod *corev1.Pod) string {
	name := pod.Name
	switch {
	case pod.Spec.HostnameOverride != nil && *pod.Spec.HostnameOverride != "":
		name = *pod.Spec.HostnameOverride
	case pod.Spec.Hostname != "":
		name = pod.Spec.Hostname
	}
	if len(name) > hostnameMaxLength {
		name = strings.TrimRight(name[:hostnameMaxLength], "-.")
	}
	return name
}

// nodeHostNames are those of a Pod on its node's network. The label is what
// the kubelet takes for the node's hostname, which a cloud provider's node
// name may differ from.
func nodeHostNames(pod *corev1.Pod, nodeLabels map[string]string) hostNames {
	h := hostNames{names: []string{pod.Name}, fold: true}
	for _, name := range []string{pod.Spec.NodeName, nodeLabels[corev1.LabelHostname]} {
		if name != "" && name != h.names[len(h.names)-1] {
			h.names = append(h.names, name)
		}
	}
	return h
}

// qualify reports whether host is the fully qualified name.
func (h *hostNames) qualify(host string) bool {
	return h.fqdn != "" && len(host) > len(h.fqdn) && strings.HasPrefix(host, h.fqdn)
}
