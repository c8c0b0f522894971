package binaries

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
)

// The releases that Start takes when asked for nothing else.
const (
	// DefaultKubernetes is the newest known release of Kubernetes.
	DefaultKubernetes = "1.37.2"
	// DefaultEtcd is the newest known release of etcd.
	DefaultEtcd = "3.7.3"
)

//go:embed modules
var modules embed.FS

// Component is one program of a release, such as kube-scheduler 1.36.3.
type Component struct {
	// Name of the program: kube-apiserver, kube-controller-manager,
	// kube-scheduler or etcd.
	Name string
	// Version of its release, without "v".
	Version string
}

// String returns the component as people write it.
func (c Component) String() string { return c.Name + " v" + c.Version }

// project is the name of the module's files in the directory modules.
func (c Component) project() string {
	if c.Name == "etcd" {
		return "etcd-" + c.Version
	}
	return "kubernetes-" + c.Version
}

// pkg is the import path of the main package.
func (c Component) pkg() string {
	if c.Name == "etcd" {
		return "go.etcd.io/etcd/server/v3"
	}
	return "k8s.io/kubernetes/cmd/" + c.Name
}

// linkerFlags strip the debug information and, as the project's own release
// build does, set the version that the program reports.
func (c Component) linkerFlags() string {
	flags := []string{"-s", "-w"}
	if c.Name == "etcd" {
		return strings.Join(flags, " ")
	}
	numbers := strings.SplitN(c.Version, ".", 3)
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion=v"+c.Version,
			"-X", pkg+".gitMajor="+numbers[0],
			"-X", pkg+".gitMinor="+numbers[1],
			"-X", pkg+".gitTreeState=clean",
		)
	}
	return strings.Join(flags, " ")
}

// module returns go.mod and go.sum to build the component with.
func (c Component) module() (mod, sum []byte, err error) {
	mod, err = modules.ReadFile(path.Join("modules", c.project()+".mod"))
	if err == nil && !strings.Contains(string(mod), c.pkg()+"\n") {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, fmt.Errorf("no build of %s is known: choose one of %s", c, strings.Join(known(), ", "))
	}
	sum, err = modules.ReadFile(path.Join("modules", c.project()+".sum"))
	return mod, sum, err
}

// directory is where the built component is kept. It changes with everything
// that goes into the build except for the Go release.
func (c Component) directory() (string, error) {
	mod, sum, err := c.module()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, part := range []string{string(mod), string(sum), c.linkerFlags(), runtime.GOOS, runtime.GOARCH} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return c.project() + "-" + hex.EncodeToString(hash.Sum(nil))[:12], nil
}

// known lists the components that can be built.
func known() []string {
	entries, err := modules.ReadDir("modules")
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		project, ok := strings.CutSuffix(entry.Name(), ".mod")
		if !ok {
			continue
		}
		mod, err := modules.ReadFile(path.Join("modules", entry.Name()))
		if err != nil {
			continue
		}
		_, version, _ := strings.Cut(project, "-")
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
			c := Component{Name: name, Version: version}
			if c.project() == project && strings.Contains(string(mod), c.pkg()+"\n") {
				names = append(names, c.String())
			}
		}
	}
	slices.Sort(names)
	return names
}
