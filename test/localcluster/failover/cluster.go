package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

const (
	oldVersion = "1.36.3"
	newVersion = "1.37.2"
	// image is the elector's; it has both versions as tags.
	image = "elector"
)

// nodes are where an upgrade goes from one to the next.
var nodes = []string{"node-1", "node-2", "node-3"}

// bench is the one cluster on which everything is measured.
type bench struct {
	cluster *localcluster.Cluster
	client  ctrlclient.Client
	kube    kubernetes.Interface
}

// up builds what is missing and starts the cluster with Leasewarden.
func up(ctx context.Context, out io.Writer) (*bench, error) {
	fmt.Fprintln(out, "==> Building and starting the control plane and Leasewarden")
	builder, err := binaries.New("", out)
	if err != nil {
		return nil, err
	}
	elector, err := builder.Package(ctx, ".", "./testprogram")
	if err != nil {
		return nil, err
	}
	program, err := builder.Package(ctx, repository, "./cmd/leasewarden")
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return nil, err
	}
	options := localcluster.Options{
		Images: map[string]string{image + ":v" + oldVersion: elector, image + ":v" + newVersion: elector},
		// The coordinated election is beta, and off by default.
		APIServerArgs: map[string][]string{
			"feature-gates":  {"CoordinatedLeaderElection=true"},
			"runtime-config": {"coordination.k8s.io/v1beta1=true"},
		},
		Builder: builder,
		Out:     out,
	}
	for _, name := range nodes {
		options.Nodes = append(options.Nodes, localcluster.Node{Name: name})
	}
	cluster, err := localcluster.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	b, err := connect(cluster)
	if err == nil {
		_, err = installation.Install(ctx, cluster, installation.Options{Repository: root, Program: program, Replicas: 2})
	}
	if err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return b, nil
}

func connect(cluster *localcluster.Cluster) (*bench, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	client, err := ctrlclient.New(cluster.Config(), ctrlclient.Options{Scheme: scheme})
	return &bench{cluster: cluster, client: client, kube: kube}, err
}
