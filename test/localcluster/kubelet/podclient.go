package kubelet

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// guardedPodsGetter is the client that virtual-kubelet's pod controller gets.
//
// That controller removes a deleted pod from the API server when the grace
// period is over or no container has been reported as running, whatever the
// provider is at. The kubelet removes it when all containers have ended and
// their last state has been reported, which is what tells others that a leader
// is gone for good. So the controller's removals only start a termination here.
type guardedPodsGetter struct {
	corev1client.PodsGetter
	kubelet *Kubelet
}

func (g guardedPodsGetter) Pods(namespace string) corev1client.PodInterface {
	return guardedPods{PodInterface: g.PodsGetter.Pods(namespace), kubelet: g.kubelet, namespace: namespace}
}

type guardedPods struct {
	corev1client.PodInterface
	kubelet   *Kubelet
	namespace string
}

func (g guardedPods) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	w := g.kubelet.worker(types.NamespacedName{Namespace: g.namespace, Name: name})
	if w == nil || (options.Preconditions != nil && options.Preconditions.UID != nil && *options.Preconditions.UID != w.uid) {
		return g.PodInterface.Delete(ctx, name, options)
	}
	pod, err := g.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if pod.UID == w.uid {
		w.terminate(pod)
	}
	return nil
}
