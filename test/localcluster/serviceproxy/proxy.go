package serviceproxy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// retryInterval is how long an address that could not be listened on is left alone.
const retryInterval = 5 * time.Second

// Run proxies the Services of the client's cluster until the context ends.
func Run(ctx context.Context, client kubernetes.Interface, log *slog.Logger) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	services, pods := factory.Core().V1().Services(), factory.Core().V1().Pods()
	changed := make(chan struct{}, 1)
	notice := func(any) {
		select {
		case changed <- struct{}{}:
		default: // everything is looked at anyway
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: notice, DeleteFunc: notice, UpdateFunc: func(_, o any) { notice(o) },
	}
	for _, informer := range []cache.SharedIndexInformer{services.Informer(), pods.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())

	open := map[string]*frontend{}
	defer func() {
		for _, f := range open {
			f.close()
		}
	}()
	retry := time.NewTicker(retryInterval)
	defer retry.Stop()
	for {
		wanted, err := backends(services.Lister(), pods.Lister())
		if err != nil {
			return err
		}
		update(open, wanted, log)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-retry.C:
		}
	}
}

// backends maps each address to listen on to the addresses behind it. Without
// a ready pod there is no entry: then a connection is refused, as by kube-proxy.
func backends(services corev1listers.ServiceLister, pods corev1listers.PodLister) (map[string][]string, error) {
	all, err := services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	addresses := map[string][]string{}
	for _, service := range all {
		if len(service.Spec.Selector) == 0 || net.ParseIP(service.Spec.ClusterIP) == nil {
			continue
		}
		selected, err := pods.Pods(service.Namespace).List(labels.SelectorFromSet(service.Spec.Selector))
		if err != nil {
			return nil, err
		}
		for _, port := range service.Spec.Ports {
			if port.Protocol != corev1.ProtocolTCP {
				continue
			}
			front := net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(int(port.Port)))
			for _, pod := range selected {
				if !usable(pod, service.Spec.PublishNotReadyAddresses) {
					continue
				}
				if back := targetPort(pod, port); back != 0 {
					addresses[front] = append(addresses[front], net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(back)))
				}
			}
		}
	}
	return addresses, nil
}

func usable(pod *corev1.Pod, unready bool) bool {
	if pod.Status.PodIP == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	if unready {
		return true
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// targetPort resolves the Service's target port in the pod; 0 means there is none.
func targetPort(pod *corev1.Pod, port corev1.ServicePort) int {
	name := port.TargetPort.StrVal
	if name == "" {
		if number := port.TargetPort.IntValue(); number != 0 {
			return number
		}
		return int(port.Port)
	}
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if p.Name == name {
				return int(p.ContainerPort)
			}
		}
	}
	return 0
}

// update opens and closes listeners to match what is wanted.
func update(open map[string]*frontend, wanted map[string][]string, log *slog.Logger) {
	for address, f := range open {
		if len(wanted[address]) == 0 {
			f.close()
			delete(open, address)
		}
	}
	for address, backends := range wanted {
		if f := open[address]; f != nil {
			f.set(backends)
			continue
		}
		f, err := listen(address, backends)
		if err != nil {
			// A port below 1024 without the right to it, for example.
			log.Error("cannot serve a Service's address", "address", address, "error", err)
			continue
		}
		log.Info("serving", "address", address, "backends", fmt.Sprint(backends))
		open[address] = f
	}
}
