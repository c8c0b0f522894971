package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasewarden/leasewarden/test/localcluster/background"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

var oldScheduler = binaries.Component{Name: localcluster.Scheduler, Version: strings.TrimPrefix(oldVersion, "v")}

// build builds all programs in the foreground, where people see that it takes
// a while the first time.
func build(ctx context.Context, out io.Writer) error {
	builder, err := binaries.New("", out)
	if err != nil {
		return err
	}
	if err := localcluster.Build(ctx, builder, oldScheduler); err != nil {
		return err
	}
	_, err = leasewarden(ctx, builder)
	return err
}

func leasewarden(ctx context.Context, builder *binaries.Builder) (string, error) {
	return builder.Package(ctx, repository, "./cmd/leasewarden")
}

// up starts the cluster with Leasewarden in the background.
func up(ctx context.Context) (background.State, error) {
	state, err := background.Up(ctx, clusterName, holdArgument)
	if errors.Is(err, background.ErrAlreadyUp) {
		return state, errors.New("the cluster of an earlier demo is still up: stop it with make demo-down")
	}
	return state, err
}

// hold holds the cluster in the background until it is told to stop.
func hold(ctx context.Context) error {
	builder, err := binaries.New("", os.Stderr)
	if err != nil {
		return err
	}
	program, err := leasewarden(ctx, builder)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	return background.Hold(clusterName, localcluster.Options{
		Nodes:       []localcluster.Node{{Name: "node-1"}, {Name: "node-2"}, {Name: "node-3"}},
		Components:  []binaries.Component{oldScheduler},
		AuditPolicy: auditPolicy,
		Builder:     builder,
		Out:         os.Stderr,
	}, func(ctx context.Context, cluster *localcluster.Cluster) error {
		_, err := installation.Install(ctx, cluster, installation.Options{Repository: root, Program: program, Replicas: 2})
		if err != nil {
			return fmt.Errorf("install Leasewarden: %w", err)
		}
		return nil
	})
}
