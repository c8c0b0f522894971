// Package kubelet is a node of a local cluster: a virtual-kubelet whose
// provider runs each container as a process on this machine, in PID, mount and
// UTS namespaces of its own and with the host's network.
//
// What matters to a leader-elected component is as on a real node: the
// hostname is the pod's name, the service account token is bound to the pod,
// an ended container is noticed by a look at the processes once a second and
// restarted with the kubelet's back-off, and a deleted pod gets SIGTERM, its
// grace period, SIGKILL, and a last status before it disappears.
//
// An image is the name of a program on this machine. Resource limits, security
// contexts, sidecars, exec, and lifecycle hooks other than preStop.sleep are
// not there.
package kubelet
