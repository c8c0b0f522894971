package installation

import (
	"context"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

const name = "leasewarden"

// Namespace is where Leasewarden is installed.
const Namespace = "leasewarden-system"

// Installation is Leasewarden on a local cluster.
type Installation struct {
	// Replicas are its processes.
	Replicas []*Replica

	front *front
}

// Options say what to install.
type Options struct {
	// Repository is the root of the checkout that the manifests are from.
	Repository string
	// Program is the path of the leasewarden binary.
	Program string
	// Replicas is how many processes to start. Default: 1.
	Replicas int
	// Args are more arguments of "serve".
	Args []string
}

// Install applies the manifests and starts the replicas. It returns when all
// are ready. They end with the cluster.
func Install(ctx context.Context, cluster *localcluster.Cluster, options Options) (*Installation, error) {
	// Not the Deployment: its replicas are the processes started here.
	want := func(object *unstructured.Unstructured) bool { return object.GetKind() != "Deployment" }
	err := Apply(ctx, cluster.Config(), filepath.Join(options.Repository, "manifests", "default"), want)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := writeKubeconfig(ctx, cluster, Namespace, name)
	if err != nil {
		return nil, err
	}
	in := &Installation{}
	if in.front, err = listen(); err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--kubeconfig=" + kubeconfig, "--webhook-url=https://localhost:" + in.front.port()}, options.Args...)
	for i := range max(options.Replicas, 1) {
		replica, err := newReplica(cluster, name+"-"+strconv.Itoa(i), options.Program, args)
		if err != nil {
			return nil, err
		}
		in.Replicas = append(in.Replicas, replica)
	}
	in.front.replicas = in.Replicas
	go in.front.serve()
	return in, in.Start(ctx)
}

// Start starts the replicas that do not run, and waits until all are ready.
func (in *Installation) Start(ctx context.Context) error {
	for _, r := range in.Replicas {
		if !r.Running() {
			if err := r.Start(); err != nil {
				return err
			}
		}
	}
	for _, r := range in.Replicas {
		if err := r.awaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends all replicas at once, as a power cut does.
func (in *Installation) Kill() error {
	for _, r := range in.Replicas {
		if err := r.Kill(); err != nil {
			return err
		}
	}
	return nil
}

// Counter sums a counter or a gauge over the replicas and its labels.
func (in *Installation) Counter(metric string) (float64, error) { return in.CounterWhere(metric, nil) }

// CounterWhere is Counter for those labels alone that have these values.
func (in *Installation) CounterWhere(metric string, where map[string]string) (float64, error) {
	total := 0.0
	for _, r := range in.Replicas {
		n, err := r.counter(metric, where)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
