package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/leasewarden/leasewarden/terms"
	"github.com/leasewarden/leasewarden/webhook"
)

const (
	defaultNamespace = "leasewarden-system"
	defaultService   = "leasewarden"
	// namespaceFile tells a Pod its namespace.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

type serveOptions struct {
	kubeconfig         string
	namespace          string
	webhookBindAddress string
	webhookPort        int
	webhookURL         string
	webhookService     string
	metricsBindAddress string
	healthBindAddress  string
	leaderElect        bool
	manageWebhooks     bool
	dryRun             bool
	certificate        certificateOptions

	config *rest.Config
}

func defaultServeOptions() *serveOptions {
	return &serveOptions{
		namespace:          ownNamespace(),
		webhookPort:        ctrlwebhook.DefaultPort,
		metricsBindAddress: ":8080",
		healthBindAddress:  ":8081",
		leaderElect:        true,
		manageWebhooks:     true,
	}
}

func (o *serveOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "Path of a kubeconfig file. Not needed inside a cluster.")
	f.StringVar(&o.namespace, "namespace", o.namespace, "Leasewarden's own namespace: of its Secret, its leader election and its Service. Leases in it are never governed.")
	f.StringVar(&o.webhookBindAddress, "webhook-bind-address", o.webhookBindAddress, "Address that the webhook listens on. Empty: all.")
	f.IntVar(&o.webhookPort, "webhook-port", o.webhookPort, "Port that the webhook listens on.")
	f.StringVar(&o.webhookURL, "webhook-url", o.webhookURL, "URL at which the API server reaches the webhook, such as https://localhost:9443. Needed outside a cluster; takes the place of --webhook-service.")
	f.StringVar(&o.webhookService, "webhook-service", o.webhookService, "Service, in --namespace, at which the API server reaches the webhook. Default inside a cluster: "+defaultService+".")
	f.StringVar(&o.metricsBindAddress, "metrics-bind-address", o.metricsBindAddress, "Address and port of /metrics. 0: none.")
	f.StringVar(&o.healthBindAddress, "health-probe-bind-address", o.healthBindAddress, "Address and port of /healthz and /readyz. 0: none.")
	f.BoolVar(&o.leaderElect, "leader-elect", o.leaderElect, "Elect, with the Lease leasewarden, the one replica that writes to the cluster. All replicas serve the webhook.")
	f.BoolVar(&o.manageWebhooks, "manage-webhook-configuration", o.manageWebhooks, "Keep the webhook configurations in step with the policies. Otherwise they are left alone.")
	f.BoolVar(&o.dryRun, "dry-run", o.dryRun, "Treat every policy as one in the mode DryRun: rule, but admit everything.")
	o.certificate.addFlags(f)
}

// ownNamespace is the Pod's, or else the default.
func ownNamespace() string {
	if data, err := os.ReadFile(namespaceFile); err == nil && strings.TrimSpace(string(data)) != "" {
		return strings.TrimSpace(string(data))
	}
	return defaultNamespace
}

func (o *serveOptions) complete() error {
	if o.namespace == "" {
		return errors.New("--namespace must not be empty")
	}
	inCluster, err := o.load()
	if err != nil {
		return err
	}
	rest.AddUserAgent(o.config, "leasewarden/"+currentVersion())
	// The defaults of client-go are too slow for a controller to catch up.
	o.config.QPS, o.config.Burst = 50, 100
	switch {
	case o.webhookURL != "" || o.webhookService != "":
	case inCluster:
		o.webhookService = defaultService
	case o.manageWebhooks:
		return errors.New("outside a cluster the API server needs to be told where the webhook is: give --webhook-url, such as https://localhost:9443, or --manage-webhook-configuration=false")
	}
	if !o.manageWebhooks && o.webhookURL == "" && o.webhookService == "" {
		o.webhookService = defaultService
	}
	if err := o.endpoint().Validate(); err != nil {
		return fmt.Errorf("--webhook-url: %w", err)
	}
	return o.certificate.validate(o.manageWebhooks)
}

// load finds the API server.
func (o *serveOptions) load() (inCluster bool, err error) {
	if o.kubeconfig != "" {
		o.config, err = clientcmd.BuildConfigFromFlags("", o.kubeconfig)
		if err != nil {
			return false, fmt.Errorf("--kubeconfig: %w", err)
		}
		return false, nil
	}
	o.config, err = rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return false, errors.New("this is not a Pod: give --kubeconfig, the path of a kubeconfig file")
	}
	return true, err
}

func (o *serveOptions) endpoint() terms.Endpoint {
	return terms.Endpoint{
		URL: o.webhookURL, Namespace: o.namespace, Service: o.webhookService,
		ValidateLease: webhook.ValidateLeasePath, MutateLease: webhook.MutateLeasePath, ValidatePolicy: webhook.ValidatePolicyPath,
	}
}

// hosts are the names that the serving certificate must have. The API server
// calls the first.
func (o *serveOptions) hosts() []string {
	if o.webhookURL == "" {
		name := o.webhookService + "." + o.namespace + ".svc"
		return []string{name, name + ".cluster.local"}
	}
	u, err := url.Parse(o.webhookURL)
	if err != nil {
		return nil // complete has refused it
	}
	return []string{u.Hostname()}
}
