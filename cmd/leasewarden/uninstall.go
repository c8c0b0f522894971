package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/progress"
)

const (
	// cleanGrace is how long a Leasewarden that runs may take to clean the Leases
	// itself, uninstallTimeout how long all of it may take.
	cleanGrace       = 5 * time.Second
	uninstallTimeout = time.Minute
)

// uninstallOptions are those of the command uninstall.
type uninstallOptions struct {
	clock      clock.Clock
	kubeconfig clusterFlags
	yes        bool
	// client is set by connect. Tests set it before.
	client client.Client
}

func newUninstallCommand(clock clock.Clock) *cobra.Command {
	o := &uninstallOptions{clock: clock}
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Takes everything of Leasewarden's off the Leases, before it is removed.",
		Long: `Deletes all policies, takes what Leasewarden wrote off the Leases, and deletes
its webhook configurations. Leaders do not notice. Without --yes it only says
what it would do. It can be repeated, and works as well if Leasewarden does not
run any more or its CRDs are gone. At the end it says how to remove the rest.`,
		Example: `  leasewarden uninstall
  leasewarden uninstall --yes && kubectl delete -k manifests/default`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c) },
	}
	o.kubeconfig.addFlags(c.Flags(), "the namespace that Leasewarden runs in, for the commands that are printed; default: "+defaultNamespace)
	c.Flags().BoolVar(&o.yes, "yes", false, "do it, and do not only say what would be done")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable(err) })
	return c
}

// connect makes the client. It asks the cluster nothing yet.
func (o *uninstallOptions) connect() error {
	if o.client != nil {
		return nil
	}
	config, _, err := o.kubeconfig.load()
	if err != nil {
		return unusable(err)
	}
	// One request at a time needs no limit, and the API server has its own.
	config.QPS = -1
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(v1alpha1.AddToScheme, coordinationv1.AddToScheme, admissionregistrationv1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return err
	}
	// The kinds are known, whether the CRDs are there or not.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind("ElectionPolicy"), meta.RESTScopeNamespace)
	mapper.Add(v1alpha1.GroupVersion.WithKind("ClusterElectionPolicy"), meta.RESTScopeRoot)
	mapper.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)
	mapper.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), meta.RESTScopeRoot)
	mapper.Add(admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"), meta.RESTScopeRoot)
	o.client, err = client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	return err
}

func (o *uninstallOptions) run(c *cobra.Command) error {
	if err := o.connect(); err != nil {
		return err
	}
	found, err := findLeftovers(c.Context(), o.client)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if found.isEmpty() {
		fmt.Fprintln(out, "There is no policy, nothing of Leasewarden's on a Lease, and no webhook configuration.")
	} else {
		fmt.Fprint(out, found.describe())
		if !o.yes {
			fmt.Fprint(out, "\nNothing was changed: do it with --yes, and leaders do not notice. After that:\n\n"+o.rest())
			return nil
		}
		if err := o.remove(c, found); err != nil {
			return err
		}
		fmt.Fprintln(out, "\nDone. If Leasewarden still runs, it puts its webhook configurations back; they\ngo with its namespace.")
	}
	fmt.Fprint(out, "\nRemove the rest:\n\n"+o.rest())
	return nil
}

// remove removes what there is until nothing is left.
func (o *uninstallOptions) remove(c *cobra.Command, found *leftovers) error {
	ctx, started := c.Context(), o.clock.Now()
	line := progress.New(c.ErrOrStderr(), o.clock)
	defer line.Done()
	for {
		elapsed := o.clock.Since(started)
		if err := found.deletePolicies(ctx); err != nil {
			return err
		}
		switch {
		case len(found.policies) > 0:
		case len(found.leases) == 0:
			return found.deleteWebhooks(ctx)
		case elapsed >= cleanGrace:
			if err := found.cleanLeases(ctx); err != nil {
				return err
			}
		}
		if elapsed >= uninstallTimeout {
			return fmt.Errorf("after %s there is still %s: something puts it back, or a finalizer holds it", uninstallTimeout, found.remaining())
		}
		if elapsed >= progressAfter {
			line.Show("waiting until they are gone: " + found.remaining())
		}
		if err := o.pause(ctx); err != nil {
			return err
		}
		var err error
		if found, err = findLeftovers(ctx, o.client); err != nil {
			return err
		}
	}
}

// pause waits for a moment. The error is that of ctx.
func (o *uninstallOptions) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("interrupted before all was removed, run it again: %w", ctx.Err())
	case <-o.clock.After(pollEvery):
		return nil
	}
}

// rest says how to remove what uninstall leaves: Leasewarden itself.
func (o *uninstallOptions) rest() string {
	namespace := defaultNamespace
	if o.kubeconfig.namespace != "" {
		namespace = o.kubeconfig.namespace
	}
	return strings.ReplaceAll(`  kubectl delete -k manifests/default

or, if it was installed by Helm, with the name of your release:

  helm uninstall leasewarden -n NAMESPACE
  kubectl delete namespace NAMESPACE
`, "NAMESPACE", namespace)
}
