package localcluster

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/kubelet"
)

type node struct {
	name    string
	kubelet *kubelet.Kubelet
}

func (c *Cluster) startNodes(ctx context.Context) error {
	server, err := url.Parse(c.config.Host)
	if err != nil {
		return err
	}
	for i, n := range c.options.Nodes {
		ip := c.network.nodeIP(i)
		certificate, err := c.kubelets.serving(n.Name, ip)
		if err != nil {
			return err
		}
		log, err := c.openLog(logPath(c.dir, n.Name))
		if err != nil {
			return err
		}
		k, err := kubelet.New(kubelet.Config{
			NodeName:           n.Name,
			Labels:             n.Labels,
			Version:            c.options.KubernetesVersion,
			IP:                 ip,
			AllocatePodIP:      c.network.podIP,
			Dir:                filepath.Join(c.dir, "nodes", n.Name),
			RESTConfig:         c.config,
			APIServerHost:      server.Hostname(),
			APIServerPort:      server.Port(),
			Image:              c.image,
			Launcher:           c.launcher,
			UserNamespace:      c.userNS,
			ServingCertificate: certificate,
			ClientCAs:          c.kubelets.pool(),
			Log:                slog.New(slog.NewTextHandler(log, nil)),
		})
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, &node{name: n.Name, kubelet: k})
		c.running.Go(func() {
			if err := k.Run(ctx); err != nil {
				fmt.Fprintln(log, err)
			}
		})
	}
	return nil
}

// unreadyNode names a node that takes no pods yet and why, or returns "".
func (c *Cluster) unreadyNode(ctx context.Context) (string, error) {
	for _, n := range c.nodes {
		select {
		case <-n.kubelet.Done():
			return "", fmt.Errorf("node %s has ended (%s)", n.name, lastLine(logPath(c.dir, n.name)))
		default:
		}
		object, err := c.client.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Sprintf("node %s has not registered (%s)", n.name, lastLine(logPath(c.dir, n.name))), nil
		}
		if err != nil {
			return "the API server does not answer: " + err.Error(), nil
		}
		ready := false
		for _, condition := range object.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				ready = condition.Status == corev1.ConditionTrue
			}
		}
		// Every new node is tainted until the controller manager has seen it.
		if !ready || len(object.Spec.Taints) > 0 {
			return fmt.Sprintf("node %s is not ready, or tainted", n.name), nil
		}
	}
	return "", nil
}

func (c *Cluster) node(name string) (*node, error) {
	for _, n := range c.nodes {
		if n.name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %q in the local cluster", name)
}

// StopKubelet makes a node's kubelet fall silent: no node lease, no reports, no
// restarts. The node's pods go on, and reach the API server as before.
// After --node-monitor-grace-period (50 s by default) the controller manager
// calls the node unreachable. StartKubelet ends that.
func (c *Cluster) StopKubelet(node string) error {
	n, err := c.node(node)
	if err == nil {
		n.kubelet.Stop()
	}
	return err
}

// CrashNode is StopKubelet, and all of the node's containers are killed: a
// machine without power. Nobody reports their end until StartKubelet.
func (c *Cluster) CrashNode(node string) error {
	n, err := c.node(node)
	if err == nil {
		n.kubelet.Crash()
	}
	return err
}

// StartKubelet brings a node back after StopKubelet or CrashNode. The node's
// view of the cluster may lag up to half a minute, since watches are retried
// with a back-off.
func (c *Cluster) StartKubelet(node string) error {
	n, err := c.node(node)
	if err == nil {
		n.kubelet.Resume()
	}
	return err
}
