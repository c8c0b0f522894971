package localcluster

import (
	"context"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// Build builds what Start needs for the default release of Kubernetes and the
// given components, unless that was done before. It is for programs that build
// where people see that it takes minutes, and start the cluster elsewhere.
func Build(ctx context.Context, builder *binaries.Builder, components ...binaries.Component) error {
	_, err := build(ctx, builder, append(ControlPlane(""), components...))
	return err
}

// programs is what a cluster is started from.
type programs struct {
	launcher string
	// userNS says that containers need user namespaces.
	userNS bool
	// paths are the components' programs, in the order they were asked for.
	paths []string
}

func build(ctx context.Context, builder *binaries.Builder, components []binaries.Component) (p programs, err error) {
	if p.launcher, err = builder.Source(ctx, LauncherName, process.LauncherSource()); err != nil {
		return p, err
	}
	// Before the rest: it takes a second to find out that this does not work.
	if p.userNS, err = process.CheckNamespaces(p.launcher); err != nil {
		return p, err
	}
	p.paths, err = builder.Components(ctx, components...)
	return p, err
}
