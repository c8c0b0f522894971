package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

const (
	// poll is how often is looked for what is waited for.
	poll = 100 * time.Millisecond
	// patience bounds each wait.
	patience = 3 * time.Minute
	// maxReplicas of Leasewarden run at once.
	maxReplicas = 3
	// account is Leasewarden's user.
	account = "system:serviceaccount:leasewarden-system:leasewarden"
)

// auditPolicy records what Leasewarden asks for, and the writes of the elections
// that are counted. Whatever else is written is not recorded.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: ["` + account + `"]
- level: Request
  namespaces: [` + electionNamespaces + `]
  verbs: [create, update, patch, delete]
- level: None
`

// bench is the one cluster on which everything is measured.
type bench struct {
	sizes
	cluster  *localcluster.Cluster
	warden   *installation.Installation
	allowAll *allowAll
	client   ctrlclient.Client
	kube     kubernetes.Interface
	world    *world
	report   *report
	out      io.Writer
}

// up builds what is missing and starts the cluster. Leasewarden is installed,
// and does not run.
func up(ctx context.Context, o *options) (*bench, error) {
	fmt.Fprintln(o.out, "==> Building and starting the control plane and Leasewarden")
	builder, err := binaries.New("", o.out)
	if err != nil {
		return nil, err
	}
	program, err := builder.Package(ctx, repository, "./cmd/leasewarden")
	if err != nil {
		return nil, err
	}
	allowAll, err := builder.Package(ctx, module, "./performance/allowall")
	if err != nil {
		return nil, err
	}
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		AuditPolicy: auditPolicy,
		// What we cost is not to hide behind a slow disk.
		EtcdArgs: map[string][]string{"unsafe-no-fsync": {"true"}, "quota-backend-bytes": {"8589934592"}},
		// The coordinated election is beta, and off by default.
		APIServerArgs: map[string][]string{
			"feature-gates":  {"CoordinatedLeaderElection=true"},
			"runtime-config": {"coordination.k8s.io/v1beta1=true"},
		},
		Builder: builder,
		Out:     o.out,
	})
	if err != nil {
		return nil, err
	}
	b := &bench{sizes: o.sizes(), cluster: cluster, out: o.out, report: newReport(o)}
	if err := b.complete(ctx, program, allowAll); err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return b, nil
}

// complete installs what is measured. The controllers are stopped, which would
// only use the processors: for Pods that are on no node.
func (b *bench) complete(ctx context.Context, program, allowAllProgram string) (err error) {
	for _, name := range []string{localcluster.ControllerManager, localcluster.Scheduler} {
		if err := b.cluster.StopComponent(name); err != nil {
			return err
		}
	}
	if err := b.connect(); err != nil {
		return err
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	b.warden, err = installation.Install(ctx, b.cluster, installation.Options{Repository: root, Program: program, Replicas: maxReplicas})
	if err != nil {
		return err
	}
	if err := b.uninstall(ctx); err != nil {
		return err
	}
	b.world = &world{bench: b}
	b.allowAll, err = startAllowAll(b.cluster, allowAllProgram)
	return err
}

func (b *bench) connect() (err error) {
	config := b.clientConfig()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if b.client, err = ctrlclient.New(config, ctrlclient.Options{Scheme: scheme}); err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	b.kube, err = kubernetes.NewForConfig(config)
	return err
}

// clientConfig has no limit: the API server is to be the bottleneck.
func (b *bench) clientConfig() *rest.Config {
	config := b.cluster.Config()
	config.QPS = -1
	return config
}

// await waits until done.
func await(ctx context.Context, what string, done wait.ConditionWithContextFunc) error {
	err := wait.PollUntilContextTimeout(ctx, poll, patience, true, done)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("waited %v for %s: %w", patience, what, err)
	}
	return err
}
