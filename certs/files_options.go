package certs

import (
	"fmt"
	"path/filepath"
	"time"
)

// DefaultFilesRotationDelay is how long a certificate of another issuer waits
// before it is served, as long as the one before is valid. It outlasts the time
// in which kubelets bring a changed Secret to all replicas, so that whichever
// of them publishes the CA has done it before any of them relies on that.
const DefaultFilesRotationDelay = 2 * time.Minute

// caFileName is what a Secret with a certificate calls its CA.
const caFileName = "ca.crt"

// FilesOptions say where the certificate is and whom it is for.
type FilesOptions struct {
	// CertFile and KeyFile have the certificate, with its intermediate ones, and
	// its key, in PEM. They need not exist yet.
	CertFile, KeyFile string
	// CAFile has the CAs that the API server shall trust, in PEM. Default: ca.crt
	// beside CertFile.
	CAFile string
	// Injected says that somebody else, as cert-manager's cainjector, keeps the
	// CAs in the webhook configurations. The default of CAFile need not exist then.
	Injected bool
	// Host is the name or IP address by which the API server calls.
	Host string
	// RotationDelay has the default above.
	RotationDelay time.Duration

	optionalCA bool
}

func (o *FilesOptions) complete() error {
	switch {
	case o.CertFile == "" || o.KeyFile == "":
		return fmt.Errorf("a certificate file and its key file belong together: give both")
	case o.Host == "":
		return fmt.Errorf("the host by which the API server calls is missing")
	}
	if o.CAFile == "" {
		o.CAFile = filepath.Join(filepath.Dir(o.CertFile), caFileName)
		o.optionalCA = o.Injected
	}
	o.RotationDelay = or(o.RotationDelay, DefaultFilesRotationDelay)
	return nil
}
