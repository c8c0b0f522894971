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
