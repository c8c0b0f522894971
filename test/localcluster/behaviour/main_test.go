package behaviour

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// repository is the root of the checkout.
var repository = filepath.Join("..", "..", "..")

// What the tests of this package share.
var (
	cluster *localcluster.Cluster
	// client has Leasewarden's types, kube everything else.
	client ctrlclient.WithWatch
	kube   kubernetes.Interface
	// warden are the replicas that govern the cluster.
	warden *installation.Installation
	// program is the leasewarden binary, built with the race detector;
	// olderScheduler is kube-scheduler of the older release.
	program, olderScheduler string
)

// parallel is how many tests run at once unless -parallel says otherwise. They
// wait most of the time, so the processors do not bound it.
const parallel = "8"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

func start(ctx context.Context) error {
	builder, err := binaries.New("", os.Stderr)
	if err != nil {
		return err
	}
	if program, err = builder.Package(ctx, repository, "./cmd/leasewarden", "-race"); err != nil {
		return err
	}
	scheduler := binaries.Component{Name: localcluster.Scheduler, Version: strings.TrimPrefix(older, "v")}
	paths, err := builder.Components(ctx, scheduler)
	if err != nil {
		return err
	}
	olderScheduler = paths[0]
	testProgram, err := builder.Package(ctx, "..", "./testprogram")
	if err != nil {
		return err
	}
	auditPolicy, err := os.ReadFile(filepath.Join(repository, "manifests", "audit", "audit-policy.yaml"))
	if err != nil {
		return err
	}
	cluster, err = localcluster.Start(ctx, localcluster.Options{
		AuditPolicy: string(auditPolicy),
		Nodes: []localcluster.Node{
			{Name: "node-1", Labels: map[string]string{"topology.kubernetes.io/zone": "a"}},
			{Name: "node-2", Labels: map[string]string{"topology.kubernetes.io/zone": "b"}},
		},
		Components: []binaries.Component{scheduler},
		// One program, whatever version it is said to have.
		Images: map[string]string{"testprogram:" + older: testProgram, "testprogram:" + newer: testProgram},
		// LeaseCandidates are beta, and off by default.
		APIServerArgs: map[string][]string{
			"feature-gates":  {"CoordinatedLeaderElection=true"},
			"runtime-config": {"coordination.k8s.io/v1beta1=true"},
		},
		Builder: builder,
		Out:     os.Stderr,
	})
	if err != nil {
		return err
	}
	warden, err = installation.Install(ctx, cluster, installation.Options{Repository: repository, Program: program, Replicas: 2})
	if err != nil {
		return err
	}
	return connect()
}

// connect makes the clients.
func connect() error {
	var err error
	if kube, err = kubernetes.NewForConfig(cluster.Config()); err != nil {
		return err
	}
	scheme := newScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	client, err = ctrlclient.NewWithWatch(cluster.Config(), ctrlclient.Options{Scheme: scheme})
	return err
}
