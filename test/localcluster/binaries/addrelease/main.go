// Adds a release to the ones that package binaries can build:
//
//	go run ./binaries/addrelease kubernetes 1.37.2
//	go run ./binaries/addrelease etcd 3.7.3
//
// It writes go.mod and go.sum to binaries/modules and is to be run in
// test/localcluster.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// project is where a release comes from, and what is built of it.
type project struct {
	module string
	tools  []string
}

var projects = map[string]project{
	"kubernetes": {
		module: "k8s.io/kubernetes",
		tools: []string{
			"k8s.io/kubernetes/cmd/kube-apiserver",
			"k8s.io/kubernetes/cmd/kube-controller-manager",
			"k8s.io/kubernetes/cmd/kube-scheduler",
		},
	},
	"etcd": {module: "go.etcd.io/etcd/server/v3", tools: []string{"go.etcd.io/etcd/server/v3"}},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "addrelease:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || projects[args[0]].module == "" {
		return fmt.Errorf("name a project (kubernetes or etcd) and a version without v, such as: kubernetes 1.37.2")
	}
	name, version := args[0], strings.TrimPrefix(args[1], "v")
	p := projects[name]
	dir, err := os.MkdirTemp("", "addrelease-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	mod, err := moduleFile(p, name+"-"+version, version)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644); err != nil {
		return err
	}
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir, tidy.Stdout, tidy.Stderr = dir, os.Stdout, os.Stderr
	tidy.Env = append(os.Environ(), "GOWORK=off")
	if err := tidy.Run(); err != nil {
		return fmt.Errorf("go mod tidy: %w", err)
	}
	for from, to := range map[string]string{"go.mod": ".mod", "go.sum": ".sum"} {
		content, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			return err
		}
		target := filepath.Join("binaries", "modules", name+"-"+version+to)
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return fmt.Errorf("run this in test/localcluster: %w", err)
		}
	}
	return nil
}

// moduleFile requires the release and replaces the modules that it requires as
// v0.0.0, the staging modules of Kubernetes, by the published ones: release
// 1.37.2 of Kubernetes publishes them as v0.37.2.
func moduleFile(p project, name, version string) ([]byte, error) {
	download := exec.Command("go", "mod", "download", "-json", p.module+"@v"+version)
	download.Dir = os.TempDir()
	output, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("there is no %s v%s: %w", p.module, version, err)
	}
	var info struct{ GoMod string }
	if err := json.Unmarshal(output, &info); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(info.GoMod)
	if err != nil {
		return nil, err
	}
	upstream, err := modfile.ParseLax(info.GoMod, content, nil)
	if err != nil {
		return nil, err
	}
	mod := &modfile.File{}
	if err := mod.AddModuleStmt("github.com/leasewarden/leasewarden/test/localcluster/binaries/" + name); err != nil {
		return nil, err
	}
	if err := mod.AddGoStmt(upstream.Go.Version); err != nil {
		return nil, err
	}
	if err := mod.AddRequire(p.module, "v"+version); err != nil {
		return nil, err
	}
	_, staging, _ := strings.Cut(version, ".")
	for _, r := range upstream.Require {
		if r.Mod.Version != "v0.0.0" {
			continue
		}
		if err := mod.AddReplace(r.Mod.Path, "", r.Mod.Path, "v0."+staging); err != nil {
			return nil, err
		}
	}
	for _, tool := range p.tools {
		if err := mod.AddTool(tool); err != nil {
			return nil, err
		}
	}
	return mod.Format()
}
