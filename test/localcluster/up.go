package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/background"
	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// olderScheduler is a release of kube-scheduler to play version skew with.
var olderScheduler = binaries.Component{Name: localcluster.Scheduler, Version: "1.36.3"}

// clusterFlags say what cluster "up" starts.
type clusterFlags struct {
	nodes  int
	images map[string]string
}

func (f *clusterFlags) register(command *cobra.Command) {
	command.Flags().IntVar(&f.nodes, "nodes", 3, "number of nodes, each in a zone of its own")
	command.Flags().StringToStringVar(&f.images, "image", nil, "a program that pods can use as their image, NAME=PATH; may be repeated")
}

func (f *clusterFlags) args() []string {
	args := []string{fmt.Sprintf("--nodes=%d", f.nodes)}
	for _, name := range slices.Sorted(maps.Keys(f.images)) {
		args = append(args, "--image="+name+"="+f.images[name])
	}
	return args
}

func (f *clusterFlags) options(out io.Writer) (localcluster.Options, error) {
	if f.nodes < 1 || f.nodes > 26 {
		return localcluster.Options{}, fmt.Errorf("a cluster has 1 to 26 nodes, not %d", f.nodes)
	}
	o := localcluster.Options{Images: f.images, Components: []binaries.Component{olderScheduler}, Out: out}
	for i := range f.nodes {
		o.Nodes = append(o.Nodes, localcluster.Node{
			Name:   fmt.Sprintf("node-%d", i+1),
			Labels: map[string]string{corev1.LabelTopologyZone: string(rune('a' + i))},
		})
	}
	for name, path := range f.images {
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return o, fmt.Errorf("the image %s is to be %s, and that is no program", name, path)
		}
	}
	return o, nil
}

func buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build what a cluster needs, unless that was done before",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return buildAll(command.Context(), command.ErrOrStderr())
		},
	}
}

// buildAll builds in the foreground, where people see that it takes a while.
func buildAll(ctx context.Context, out io.Writer) error {
	builder, err := binaries.New("", out)
	if err != nil {
		return err
	}
	return localcluster.Build(ctx, builder, olderScheduler)
}

func upCommand(o *options) *cobra.Command {
	var flags clusterFlags
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster in the background",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, out := command.Context(), command.OutOrStdout()
			// Before a build of minutes.
			if err := background.CheckName(o.name); err != nil {
				return err
			}
			if _, err := flags.options(nil); err != nil {
				return err
			}
			if err := buildAll(ctx, command.ErrOrStderr()); err != nil {
				return err
			}
			args := append([]string{"hold", "--name=" + o.name}, flags.args()...)
			state, err := background.Up(ctx, o.name, args...)
			if err != nil && !errors.Is(err, background.ErrAlreadyUp) {
				return err
			}
			if err != nil {
				fmt.Fprintln(out, "The local cluster is up already.")
			} else {
				fmt.Fprintln(out, "The local cluster is up.")
			}
			fmt.Fprintf(out, "\nkubeconfig: %s\n\n", state.Kubeconfig)
			fmt.Fprintf(out, "  %s --kubeconfig %s get nodes\n", kubectl(), quote(state.Kubeconfig))
			return nil
		},
	}
	flags.register(command)
	return command
}

// kubectl is the command to show; without one, people need to know that.
func kubectl() string {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return "(kubectl is not on your PATH; with one:) kubectl"
	}
	return "kubectl"
}

func quote(path string) string {
	if strings.ContainsAny(path, " '\"$&()") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// holdCommand is what "up" runs in the background.
func holdCommand(o *options) *cobra.Command {
	var flags clusterFlags
	command := &cobra.Command{
		Use:    "hold",
		Short:  "Hold a cluster until SIGTERM; \"up\" does that in the background",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			options, err := flags.options(command.ErrOrStderr())
			if err != nil {
				return err
			}
			return background.Hold(o.name, options)
		},
	}
	flags.register(command)
	return command
}
