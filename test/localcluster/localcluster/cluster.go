package localcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/leasewarden/leasewarden/test/localcluster/serviceproxy"
)

// readyTimeout is how long the cluster may take to be ready once its processes run.
const readyTimeout = time.Minute

// Cluster is a running cluster. Its methods may be called from any goroutine.
type Cluster struct {
	options    Options
	dir        string
	temporary  bool
	launcher   string
	userNS     bool
	network    *network
	kubelets   *kubeletCA
	plane      *envtest.ControlPlane
	config     *rest.Config
	client     kubernetes.Interface
	components []*component
	nodes      []*node
	logs       []*os.File
	cancel     context.CancelFunc
	running    sync.WaitGroup // nodes and the service proxy

	mu        sync.Mutex
	images    map[string]string
	processes []hostProcess

	stop sync.Once
}

// Start builds what is missing, starts the cluster, and returns when a pod can
// be created: the nodes are ready and the default service account exists. The
// context bounds the start alone; the cluster then runs until Stop, or until
// this process ends.
//
// An error is one sentence and leaves nothing running, but the directory with
// the logs.
func Start(ctx context.Context, options Options) (cluster *Cluster, err error) {
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("cannot start a local cluster: %w", err)
	}
	c := &Cluster{options: options, images: maps.Clone(options.Images)}
	if c.images == nil {
		c.images = map[string]string{}
	}
	if err := c.start(ctx); err != nil {
		c.temporary = false // the error points at a log in there
		_ = c.Stop()
		return nil, fmt.Errorf("cannot start a local cluster: %w", err)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	components := append(ControlPlane(c.options.KubernetesVersion), c.options.Components...)
	built, err := build(ctx, c.options.Builder, components)
	if err != nil {
		return err
	}
	c.launcher, c.userNS = built.launcher, built.userNS
	paths := built.paths
	for i, component := range components {
		c.AddImage(ComponentImage(component), paths[i])
	}
	if err := c.makeDir(); err != nil {
		return err
	}
	if c.network, err = claimNetwork(); err != nil {
		return err
	}
	if c.kubelets, err = newKubeletCA(); err != nil {
		return err
	}
	if err := c.startControlPlane(ctx, paths[0], paths[1]); err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	if err := c.startControllers(ctx, paths[2], paths[3]); err != nil {
		return err
	}
	background, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	if err := c.startNodes(background); err != nil {
		return err
	}
	if err := c.startServiceProxy(background); err != nil {
		return err
	}
	return c.awaitReady(ctx)
}

// startServiceProxy makes the addresses of Services answer.
func (c *Cluster) startServiceProxy(ctx context.Context) error {
	const name = "kube-proxy"
	out, err := c.openLog(logPath(c.dir, name))
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(out, nil))
	c.running.Go(func() {
		if err := serviceproxy.Run(ctx, c.client, log); err != nil {
			log.Error("the proxy has ended", "error", err)
		}
	})
	return nil
}

func (c *Cluster) makeDir() error {
	c.dir = c.options.Dir
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "leasewarden-cluster-")
		if err != nil {
			return err
		}
		c.dir, c.temporary = dir, true
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return err
	}
	c.dir = dir
	// Certificates and addresses of an earlier cluster would not fit.
	if _, err := os.Stat(c.Kubeconfig()); err == nil {
		return fmt.Errorf("%s has the files of another cluster: remove it, or choose another directory", c.dir)
	}
	return os.MkdirAll(filepath.Join(c.dir, "logs"), 0o755)
}

// awaitReady waits until a pod can be created and would run.
func (c *Cluster) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	missing := ""
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		for _, component := range c.components {
			if component.pid() == 0 {
				return false, fmt.Errorf("%s has ended (%s)", component.name, lastLine(component.log))
			}
		}
		_, err := c.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		if err != nil {
			missing = fmt.Sprintf("kube-controller-manager made no default service account (%s)", lastLine(logPath(c.dir, ControllerManager)))
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			missing = "the API server does not answer: " + err.Error()
			return false, nil
		}
		missing, err = c.unreadyNode(ctx)
		return missing == "", err
	})
	if wait.Interrupted(err) {
		return errors.New(missing)
	}
	return err
}

// Stop stops everything that the cluster has started and removes its
// directory, unless that was given. It may be called more than once.
func (c *Cluster) Stop() error {
	var err error
	c.stop.Do(func() {
		if c.cancel != nil {
			c.cancel()
		}
		c.running.Wait()
		c.stopProcesses()
		err = c.stopComponents()
		for _, log := range c.logs {
			log.Close()
		}
		if c.network != nil {
			c.network.release()
		}
		if c.temporary {
			err = errors.Join(err, os.RemoveAll(c.dir))
		}
	})
	return err
}

// Config returns a client configuration with all rights (group system:masters).
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the path of a kubeconfig file with the same rights.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// Dir returns the directory of the cluster's files.
func (c *Cluster) Dir() string { return c.dir }

// AuditLog returns the path of the audit log; see Options.AuditPolicy.
func (c *Cluster) AuditLog() string { return logPath(c.dir, "audit") }

// AddImage makes a program known under an image name, also for pods that wait
// for it. A running container keeps the program that it was started with.
func (c *Cluster) AddImage(name, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images[name] = path
}

func (c *Cluster) image(name string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, ok := c.images[name]
	return path, ok
}
