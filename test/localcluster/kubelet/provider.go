package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	"github.com/virtual-kubelet/virtual-kubelet/node/nodeutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

var (
	_ nodeutil.Provider = (*Kubelet)(nil)
	_ node.PodNotifier  = (*Kubelet)(nil)
)

func namespacedName(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// worker returns the worker of the newest pod of that name, or nil.
func (k *Kubelet) worker(name types.NamespacedName) *podWorker {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.latest[name]
}

// CreatePod implements virtual-kubelet's provider.
func (k *Kubelet) CreatePod(_ context.Context, pod *corev1.Pod) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[pod.UID] != nil {
		return nil
	}
	w := newPodWorker(k, pod)
	k.pods[pod.UID] = w
	k.latest[namespacedName(pod)] = w
	k.workers.Go(w.run)
	return nil
}

// UpdatePod implements virtual-kubelet's provider.
func (k *Kubelet) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	w := k.worker(namespacedName(pod))
	if w != nil && w.uid == pod.UID {
		w.update(pod)
		return nil
	}
	// Another pod of the same name: the old one was removed by force.
	if w != nil {
		w.terminate(w.lastPod())
	}
	return k.CreatePod(ctx, pod)
}

// DeletePod implements virtual-kubelet's provider. It returns at once; the pod
// is gone when the kubelet has removed it from the API server.
func (k *Kubelet) DeletePod(_ context.Context, pod *corev1.Pod) error {
	k.mu.Lock()
	w := k.pods[pod.UID]
	k.mu.Unlock()
	if w == nil {
		return errdefs.NotFoundf("pod %s/%s is not on node %s", pod.Namespace, pod.Name, k.config.NodeName)
	}
	w.terminate(pod)
	return nil
}

// GetPod implements virtual-kubelet's provider.
func (k *Kubelet) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	w := k.worker(types.NamespacedName{Namespace: namespace, Name: name})
	if w == nil {
		return nil, errdefs.NotFoundf("pod %s/%s is not on node %s", namespace, name, k.config.NodeName)
	}
	return w.lastPod(), nil
}

// GetPodStatus implements virtual-kubelet's provider.
func (k *Kubelet) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := k.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &pod.Status, nil
}

// GetPods implements virtual-kubelet's provider.
func (k *Kubelet) GetPods(context.Context) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	for _, w := range k.allWorkers() {
		pods = append(pods, w.lastPod())
	}
	return pods, nil
}

// NotifyPods implements virtual-kubelet's provider. The kubelet writes statuses
// by itself: virtual-kubelet replaces the whole status, and with it conditions
// that others have set, such as DisruptionTarget.
func (k *Kubelet) NotifyPods(context.Context, func(*corev1.Pod)) {}

// remove forgets a pod that has ended and is gone from the API server.
func (k *Kubelet) remove(w *podWorker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pods, w.uid)
	if name := w.name; k.latest[name] == w {
		delete(k.latest, name)
	}
}

// RunInContainer implements virtual-kubelet's provider.
func (k *Kubelet) RunInContainer(context.Context, string, string, string, []string, api.AttachIO) error {
	return errors.New("exec is not supported on a local cluster: its containers are processes of this machine")
}

// AttachToContainer implements virtual-kubelet's provider.
func (k *Kubelet) AttachToContainer(context.Context, string, string, string, api.AttachIO) error {
	return errors.New("attach is not supported on a local cluster: use kubectl logs --follow")
}

// GetStatsSummary implements virtual-kubelet's provider.
func (k *Kubelet) GetStatsSummary(context.Context) (*statsv1alpha1.Summary, error) {
	return nil, errdefs.NotFound("a local cluster's nodes have no statistics")
}

// GetMetricsResource implements virtual-kubelet's provider.
func (k *Kubelet) GetMetricsResource(context.Context) ([]*dto.MetricFamily, error) {
	return nil, errdefs.NotFound("a local cluster's nodes have no metrics")
}

// PortForward implements virtual-kubelet's provider.
func (k *Kubelet) PortForward(ctx context.Context, namespace, name string, port int32, stream io.ReadWriteCloser) error {
	w := k.worker(types.NamespacedName{Namespace: namespace, Name: name})
	if w == nil {
		return errdefs.NotFoundf("pod %s/%s is not on node %s", namespace, name, k.config.NodeName)
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(w.ip, strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("cannot connect to pod %s/%s: %w", namespace, name, err)
	}
	defer connection.Close()
	done := make(chan error, 2)
	go func() { _, err := io.Copy(connection, stream); done <- err }()
	go func() { _, err := io.Copy(stream, connection); done <- err }()
	return <-done
}
