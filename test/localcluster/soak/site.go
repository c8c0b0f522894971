package main

import (
	"context"
	"errors"
	"fmt"
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

// replicas is how many there are of Leasewarden.
const replicas = 2

// site is the cluster that everything happens on.
type site struct {
	cluster *localcluster.Cluster
	client  ctrlclient.Client
	kube    kubernetes.Interface
	warden  *installation.Installation
}

// up builds what is missing and starts the cluster with Leasewarden. Its files
// are kept in dir.
func up(ctx context.Context, o *options, dir string) (*site, error) {
	fmt.Fprintln(o.out, "==> Building and starting the control plane and Leasewarden")
	builder, err := binaries.New("", o.out)
	if err != nil {
		return nil, err
	}
	program, err := builder.Package(ctx, o.repository, "./cmd/leasewarden")
	if err != nil {
		return nil, err
	}
	images, err := images(ctx, builder, o.module)
	if err != nil {
		return nil, err
	}
	s := &site{}
	s.cluster, err = localcluster.Start(ctx, localcluster.Options{
		Nodes:      []localcluster.Node{{Name: "node-1"}, {Name: "node-2"}, {Name: "node-3"}},
		Components: []binaries.Component{{Name: localcluster.Scheduler, Version: oldVersion}},
		Images:     images, Dir: dir, Builder: builder, Out: o.out,
	})
	if err != nil {
		return nil, err
	}
	if err := s.install(ctx, o, program); err != nil {
		return nil, errors.Join(err, s.cluster.Stop())
	}
	return s, nil
}

// images are the electors' programs that are not Kubernetes' own. Whatever version
// they are said to have, it is one program.
func images(ctx context.Context, builder *binaries.Builder, module string) (map[string]string, error) {
	all := map[string]string{}
	for image, pkg := range map[string]string{electorImage: "./testprogram", managerImage: "./soak/manager"} {
		program, err := builder.Package(ctx, module, pkg)
		if err != nil {
			return nil, err
		}
		for _, version := range []string{oldVersion, newVersion} {
			all[image+":v"+version] = program
		}
	}
	return all, nil
}

func (s *site) install(ctx context.Context, o *options, program string) error {
	root, err := filepath.Abs(o.repository)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if s.kube, err = kubernetes.NewForConfig(s.cluster.Config()); err != nil {
		return err
	}
	s.warden, err = installation.Install(ctx, s.cluster, installation.Options{Repository: root, Program: program, Replicas: replicas})
	if err != nil {
		return err
	}
	s.client, err = ctrlclient.New(s.cluster.Config(), ctrlclient.Options{Scheme: scheme})
	return err
}
