package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certutil "k8s.io/client-go/util/cert"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// allowAll is the webhook that allows everything, as a process.
type allowAll struct {
	cluster      *localcluster.Cluster
	program, dir string
	port         int
	authority    []byte
	process      *process.Process
}

func startAllowAll(cluster *localcluster.Cluster, program string) (*allowAll, error) {
	a := &allowAll{cluster: cluster, program: program, dir: filepath.Join(cluster.Dir(), "allowall")}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a.port = listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	certificate, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	a.authority = certificate
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(a.dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return a, a.start()
}

func (a *allowAll) start() (err error) {
	a.process, err = a.cluster.StartProcess("allowall", a.program, fmt.Sprintf("-port=%d", a.port), "-certificates="+a.dir)
	return err
}

func (a *allowAll) stop() { a.process.Stop(grace) }

// restart starts it anew on that many processors. Empty: on all.
func (a *allowAll) restart(ctx context.Context, processors string) error {
	a.stop()
	if err := onProcessors(processors, a.start); err != nil {
		return err
	}
	return await(ctx, "the webhook that allows everything", func(context.Context) (bool, error) {
		conn, err := net.Dial("tcp", a.address())
		if err != nil {
			return false, nil
		}
		return true, conn.Close()
	})
}

func (a *allowAll) address() string { return fmt.Sprintf("localhost:%d", a.port) }

// clientConfig is how the API server reaches it.
func (a *allowAll) clientConfig() admissionregistrationv1.WebhookClientConfig {
	url := "https://" + a.address() + "/"
	return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: a.authority}
}
