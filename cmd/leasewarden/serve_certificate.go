package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/leasewarden/leasewarden/certs"
	"github.com/leasewarden/leasewarden/terms"
)

// certificates is where the serving certificate is from.
type certificates interface {
	manager.Runnable
	terms.Trust
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Ready returns what is wrong with the certificate that is served, Problem
	// also what will be.
	Ready() error
	Problem() error
	// Changed has an event whenever there is a new CA.
	Changed() <-chan event.GenericEvent
}

// certificateOptions are the flags about certificates. Those that other
// components of Kubernetes have, too, have the same names.
type certificateOptions struct {
	certFile, keyFile, caFile string
	injectFrom                string
	clientCAFile              string
	minVersion                string
}

// tlsVersions are what --tls-min-version may be: our way, and that of other
// components.
var tlsVersions = map[string]uint16{
	"1.2": tls.VersionTLS12, "VersionTLS12": tls.VersionTLS12,
	"1.3": tls.VersionTLS13, "VersionTLS13": tls.VersionTLS13,
}

func (o *certificateOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.certFile, "tls-cert-file", o.certFile, "File with the webhook's serving certificate, followed by intermediate ones, in PEM. It is read again when it changes. Default: Leasewarden makes certificates of its own.")
	f.StringVar(&o.keyFile, "tls-private-key-file", o.keyFile, "File with the key of --tls-cert-file, in PEM.")
	f.StringVar(&o.caFile, "tls-ca-file", o.caFile, "File with the CAs by which the API server shall trust --tls-cert-file, in PEM. They are published in the webhook configurations. Default: ca.crt beside --tls-cert-file.")
	f.StringVar(&o.injectFrom, "inject-ca-from", o.injectFrom, "NAMESPACE/NAME of the cert-manager Certificate that --tls-cert-file is of. cert-manager's cainjector then keeps the CAs in the webhook configurations.")
	f.StringVar(&o.clientCAFile, "client-ca-file", o.clientCAFile, "File with the CAs of which a client of the webhook must have a certificate, in PEM. The API server must be told to present one. Empty: clients need none.")
	f.StringVar(&o.minVersion, "tls-min-version", "1.3", "Oldest version of TLS that the webhook speaks: 1.2 or 1.3.")
}

func (o *certificateOptions) validate(manageWebhooks bool) error {
	if tlsVersions[o.minVersion] == 0 {
		return fmt.Errorf("--tls-min-version: %q is not one of 1.2 and 1.3", o.minVersion)
	}
	switch {
	case (o.certFile == "") != (o.keyFile == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file belong together: give both, or none for a certificate of Leasewarden's own")
	case o.certFile == "" && o.caFile != "":
		return errors.New("--tls-ca-file is about a certificate in a file: give --tls-cert-file and --tls-private-key-file, too")
	case o.certFile == "" && o.injectFrom != "":
		return errors.New("--inject-ca-from is about a certificate in a file: mount the Secret of the Certificate and give --tls-cert-file and --tls-private-key-file, too")
	case o.injectFrom != "" && !manageWebhooks:
		return errors.New("--inject-ca-from annotates the webhook configurations, which --manage-webhook-configuration=false leaves alone: annotate yours with cert-manager.io/inject-ca-from")
	}
	return validateCertificateName(o.injectFrom)
}

func validateCertificateName(name string) error {
	if name == "" {
		return nil
	}
	namespace, certificate, ok := strings.Cut(name, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(certificate)) > 0 {
		return fmt.Errorf("--inject-ca-from: %q is not the namespace and the name of a Certificate, such as %s/leasewarden", name, defaultNamespace)
	}
	return nil
}

// newCertificates makes what the flags say.
func (o *serveOptions) newCertificates(config *rest.Config) (certificates, error) {
	c := o.certificate
	if c.certFile == "" {
		return certs.NewSelfManaged(config, certs.Options{Namespace: o.namespace, Hosts: o.hosts()})
	}
	return certs.NewFiles(certs.FilesOptions{
		CertFile: c.certFile, KeyFile: c.keyFile, CAFile: c.caFile,
		Injected: c.injectFrom != "" || !o.manageWebhooks,
		Host:     o.hosts()[0],
	})
}
