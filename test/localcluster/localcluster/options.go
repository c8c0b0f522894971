package localcluster

import (
	"fmt"
	"io"
	"strings"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
)

// Options say what cluster to start. The zero value is one node of the newest
// known release.
type Options struct {
	// KubernetesVersion of the control plane and the nodes, without "v".
	// Default: binaries.DefaultKubernetes.
	KubernetesVersion string
	// Nodes of the cluster. Default: one, node-1.
	Nodes []Node
	// Images are the programs that pods can name as their image, by image name.
	// See also Components and Cluster.AddImage.
	Images map[string]string
	// Components are built, too, and can be named as an image: kube-scheduler
	// 1.36.3 as "kube-scheduler:v1.36.3".
	Components []binaries.Component

	// FeatureGates of kube-apiserver, kube-controller-manager and kube-scheduler.
	FeatureGates map[string]bool
	// APIServerArgs are more flags of kube-apiserver, without dashes; they
	// replace flags that are set otherwise. The same goes for the others.
	APIServerArgs         map[string][]string
	EtcdArgs              map[string][]string
	ControllerManagerArgs map[string]string
	SchedulerArgs         map[string]string
	// AuditPolicy is an audit.k8s.io/v1 Policy in YAML. With it, the API server
	// writes the audit log to Cluster.AuditLog().
	AuditPolicy string

	// Dir is where the cluster keeps its files: kubeconfig, logs, etcd's data.
	// It is made if missing, and stays; one that another cluster has used is an
	// error. Default: a temporary directory, which
	// Stop removes.
	Dir string
	// Builder builds what is missing. Default: one for the user's cache
	// directory that reports to Out.
	Builder *binaries.Builder
	// Out gets a line now and then on what takes a while. Default: nobody is told.
	Out io.Writer
}

// Node is one node of the cluster.
type Node struct {
	// Name of the Node object.
	Name string
	// Labels of the Node object, for example topology.kubernetes.io/zone.
	Labels map[string]string
}

func (o *Options) complete() error {
	if o.KubernetesVersion == "" {
		o.KubernetesVersion = binaries.DefaultKubernetes
	}
	if len(o.Nodes) == 0 {
		o.Nodes = []Node{{Name: "node-1"}}
	}
	names := map[string]bool{}
	for _, node := range o.Nodes {
		if node.Name == "" || names[node.Name] {
			return fmt.Errorf("every node needs a name of its own, and %q is not one", node.Name)
		}
		names[node.Name] = true
	}
	if len(o.Nodes) > maxNodes {
		return fmt.Errorf("a local cluster has at most %d nodes, not %d", maxNodes, len(o.Nodes))
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Builder == nil {
		var err error
		if o.Builder, err = binaries.New("", o.Out); err != nil {
			return err
		}
	}
	return nil
}

// featureGates is the value of the components' flag.
func (o *Options) featureGates() string {
	var gates []string
	for name, on := range o.FeatureGates {
		gates = append(gates, fmt.Sprintf("%s=%t", name, on))
	}
	return strings.Join(gates, ",")
}

// ComponentImage is the image name of a component that Options.Components lists.
func ComponentImage(c binaries.Component) string { return c.Name + ":v" + c.Version }

// LauncherName is the program in front of every process of a cluster; see
// package process.
const LauncherName = "leasewarden-launcher"

// ControlPlane lists what Start builds for a release of Kubernetes, without
// "v"; empty means the default.
func ControlPlane(version string) []binaries.Component {
	if version == "" {
		version = binaries.DefaultKubernetes
	}
	return []binaries.Component{
		{Name: Etcd, Version: binaries.DefaultEtcd},
		{Name: APIServer, Version: version},
		{Name: ControllerManager, Version: version},
		{Name: Scheduler, Version: version},
	}
}
