package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

func parse(t *testing.T, args ...string) (*serveOptions, error) {
	t.Helper()
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	o := defaultServeOptions()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.addFlags(flags)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "KUBECONFIG", path)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o, o.complete()
}

func TestServeOptions(t *testing.T) {
	for _, tc := range []struct {
		name, args, problem, hosts string
	}{
		{name: "nowhere", problem: "give --kubeconfig"},
		{name: "no such file", args: "--kubeconfig=/nonexistent", problem: "--kubeconfig:"},
		{name: "no endpoint", args: "--kubeconfig=KUBECONFIG", problem: "give --webhook-url"},
		{name: "http", args: "--kubeconfig=KUBECONFIG --webhook-url=http://localhost:9443", problem: "--webhook-url:"},
		{name: "path", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost/x", problem: "--webhook-url:"},
		{name: "no namespace", args: "--kubeconfig=KUBECONFIG --namespace= --webhook-url=https://localhost", problem: "--namespace"},
		{name: "half a certificate", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-cert-file=c", problem: "--tls-private-key-file belong together"},
		{name: "key alone", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-private-key-file=k", problem: "belong together"},
		{name: "CA of nothing", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-ca-file=c", problem: "--tls-ca-file"},
		{name: "injection of nothing", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --inject-ca-from=a/b", problem: "--inject-ca-from"},
		{name: "injection into nothing", args: "--kubeconfig=KUBECONFIG --manage-webhook-configuration=false --tls-cert-file=c --tls-private-key-file=k --inject-ca-from=a/b", problem: "annotate yours"},
		{name: "injection from nowhere", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-cert-file=c --tls-private-key-file=k --inject-ca-from=b", problem: "is not the namespace and the name"},
		{name: "TLS version", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-min-version=1.1", problem: "--tls-min-version"},
		{name: "TLS version of others", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-min-version=VersionTLS12", hosts: "localhost"},
		{name: "cert-manager", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost --tls-cert-file=c --tls-private-key-file=k --inject-ca-from=leasewarden-system/leasewarden", hosts: "localhost"},
		{name: "url", args: "--kubeconfig=KUBECONFIG --webhook-url=https://localhost:9443", hosts: "localhost"},
		{name: "address", args: "--kubeconfig=KUBECONFIG --webhook-url=https://[::1]:9443", hosts: "::1"},
		{name: "service", args: "--kubeconfig=KUBECONFIG --webhook-service=lw --namespace=ns", hosts: "lw.ns.svc lw.ns.svc.cluster.local"},
		{name: "unmanaged", args: "--kubeconfig=KUBECONFIG --manage-webhook-configuration=false", hosts: "leasewarden.leasewarden-system.svc leasewarden.leasewarden-system.svc.cluster.local"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, err := parse(t, strings.Fields(tc.args)...)
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Fatalf("got %v, want %q", err, tc.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(o.hosts(), " "); got != tc.hosts {
				t.Errorf("hosts: got %q, want %q", got, tc.hosts)
			}
		})
	}
}
