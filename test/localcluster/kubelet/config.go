package kubelet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// relistPeriod is how often the kubelet looks at its containers: that of the
// real kubelet's generic pod lifecycle event generator. A container's end is
// reported at such a look and never faster.
const relistPeriod = time.Second

// Config is what a kubelet needs to know. All fields without a default are required.
type Config struct {
	// NodeName of the Node object.
	NodeName string
	// Labels of the Node object, besides the ones every node has.
	Labels map[string]string
	// Version is the kubelet version in the Node's status, without "v".
	Version string
	// IP is the node's address, a loopback address of its own.
	IP string
	// AllocatePodIP returns an unused loopback address for a pod.
	AllocatePodIP func() string
	// Dir is the node's directory: volumes, logs, mount points.
	Dir string
	// RESTConfig is how the kubelet itself talks to the API server.
	RESTConfig *rest.Config
	// APIServerHost and APIServerPort are what pods find in their environment
	// as the address of the API server.
	APIServerHost, APIServerPort string
	// Image returns the program that an image name stands for.
	Image func(name string) (path string, ok bool)
	// Launcher is the path of package process's launcher.
	Launcher string
	// UserNamespace gives each container a user namespace; see process.Container.
	UserNamespace bool
	// ServingCertificate is for the kubelet's own API, which the API server
	// asks for logs; ClientCAs are who may ask.
	ServingCertificate tls.Certificate
	ClientCAs          *x509.CertPool
	// Log gets what the kubelet does. Default: nothing is logged.
	Log *slog.Logger
	// Clock is for the relist and the crash back-off. Default: the real one.
	Clock clock.WithTicker
}

func (c *Config) complete() error {
	if c.NodeName == "" || c.RESTConfig == nil || c.Image == nil || c.AllocatePodIP == nil || c.Launcher == "" {
		return errors.New("a kubelet needs a node name, a REST config, images, pod addresses and a launcher")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return nil
}
