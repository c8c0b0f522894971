package manifests

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	manifestsDir = "../../manifests/"
	chartDir     = "../../charts/leasewarden"
	namespace    = "leasewarden-system"
)

// objects are by kind, namespace and name, as "Service leasewarden-system/leasewarden".
type objects map[string]*unstructured.Unstructured

// kustomize builds a kustomization of manifests/.
func kustomize(t *testing.T, dir string) objects {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), manifestsDir+dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(all))
}

// render renders the chart. The error is that of the values.
func render(t *testing.T, values map[string]any) (objects, error) {
	t.Helper()
	chart, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	release := common.ReleaseOptions{Name: "leasewarden", Namespace: namespace, Revision: 1, IsInstall: true}
	top, err := util.ToRenderValues(chart, values, release, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, top)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == ".yaml" {
			all.WriteString("---\n" + files[name] + "\n")
		}
	}
	return read(t, all.String()), nil
}

// read reads objects, each of which must be of a known kind and have no field
// that the kind does not.
func read(t *testing.T, text string) objects {
	t.Helper()
	all := objects{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &o.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(o.Object) == 0 {
			continue
		}
		typed(t, o)
		key := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		if all[key] != nil {
			t.Fatalf("%s is there twice", key)
		}
		all[key] = o
	}
}

var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(monitoringv1.AddToScheme(scheme))
	utilruntime.Must(cmv1.AddToScheme(scheme))
}

// typed is the object as its Go type.
func typed(t *testing.T, o *unstructured.Unstructured) runtime.Object {
	t.Helper()
	typed, err := scheme.New(o.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, typed, true); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return typed
}

// get returns the only object of type T.
func get[T runtime.Object](t *testing.T, all objects) T {
	t.Helper()
	var found []T
	for _, o := range all {
		if typed, ok := typed(t, o).(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d %T", len(found), found)
	}
	return found[0]
}
