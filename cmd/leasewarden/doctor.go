package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/doctor"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/progress"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
)

// doctorTimeout bounds one request to the API server.
const doctorTimeout = 10 * time.Second

// doctorOptions are the flags of the command doctor.
type doctorOptions struct {
	clock      clock.Clock
	kubeconfig clusterFlags
	output     pickOutput
}

func newDoctorCommand(clock clock.Clock) *cobra.Command {
	o := &doctorOptions{clock: clock, output: pickTable}
	c := &cobra.Command{
		Use:   "doctor [-n NAMESPACE] [-o table|json|yaml]",
		Short: "Checks an installation, and says what is wrong with it.",
		Long: `Checks an installation of Leasewarden: its CRDs, replicas, versions, webhook,
certificates, policies and Elections, and what else in the cluster may stop
leaders from renewing. Of each it says whether that is ok, a warning, a problem or
unknown, and what to do.

Nothing is changed. To see whether the webhook is asked, it tries to create a
policy that cannot be used, and to acquire a Lease as nobody, both as dry runs,
which the API server does not carry out. What you may not read is unknown.

Exit status: 0 if there is no problem, 1 if there is one, 2 if it was called the
wrong way.`,
		Example: `  leasewarden doctor
  leasewarden doctor -o json`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c) },
	}
	o.kubeconfig.addFlags(c.Flags(), "the namespace that Leasewarden runs in; default: where its Deployment is")
	c.Flags().VarP(&o.output, "output", "o", "table, json or yaml")
	cobra.CheckErr(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(pickOutputs, noFiles)))
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable(err) })
	return c
}

func (o *doctorOptions) run(c *cobra.Command) error {
	cluster, err := o.cluster()
	if err != nil {
		return err
	}
	return o.examine(c, cluster)
}

// examine shows what is found.
func (o *doctorOptions) examine(c *cobra.Command, cluster *doctor.Cluster) error {
	if _, err := cluster.Time(c.Context()); err != nil {
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	line, started := progress.New(c.ErrOrStderr(), o.clock), o.clock.Now()
	findings, err := doctor.Examine(c.Context(), cluster, func(what string) {
		if o.clock.Since(started) >= progressAfter {
			line.Show(what)
		}
	})
	line.Done()
	if err != nil {
		return err
	}
	if err := o.show(c.OutOrStdout(), findings); err != nil {
		return err
	}
	if n := doctor.Count(findings, doctor.Problem); n > 0 {
		return errors.New("something is wrong with the installation, see the problems above")
	}
	return nil
}

func (o *doctorOptions) show(w io.Writer, findings []doctor.Finding) error {
	switch o.output {
	case pickJSON:
		return report.JSON(w, findings)
	case pickYAML:
		return report.YAML(w, findings)
	}
	return report.Findings(w, findings, styleFor(w))
}

// cluster is that of the flags. It asks it nothing yet.
func (o *doctorOptions) cluster() (*doctor.Cluster, error) {
	config, _, err := o.kubeconfig.load()
	if err != nil {
		return nil, unusable(err)
	}
	// One request at a time needs no limit, and the API server has its own.
	config.QPS, config.Timeout = -1, doctorTimeout
	// The API server's warnings are about what is tried, and nobody's business.
	config.WarningHandlerWithContext = rest.NoWarnings{}
	discovery, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cluster := &doctor.Cluster{
		Discovery: discovery, Clock: o.clock, Version: currentVersion(),
		Namespace: o.kubeconfig.namespace, DefaultNamespace: defaultNamespace,
	}
	if cluster.Client, err = newDoctorClient(config); err != nil {
		return nil, err
	}
	cluster.Time, err = serverTime(config)
	return cluster, err
}

func newDoctorClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// serverTime asks for the version, which everybody may, and reads the time of
// the answer.
func serverTime(config *rest.Config) (func(context.Context) (time.Time, error), error) {
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (time.Time, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("version").String(), nil)
		if err != nil {
			return time.Time{}, err
		}
		response, err := web.Do(request)
		if err != nil {
			return time.Time{}, err
		}
		defer response.Body.Close()
		return http.ParseTime(response.Header.Get("Date"))
	}, nil
}
