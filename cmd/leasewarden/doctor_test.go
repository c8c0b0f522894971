package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/doctor"
)

// ward is a cluster to examine, in which a Lease is governed.
type ward struct {
	client.Client
	// forbidden says that nothing may be read or written.
	forbidden bool
	// writes are what was tried.
	writes []string
}

func newWard(t *testing.T) *ward {
	t.Helper()
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	election := &v1alpha1.Election{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}}
	election.Status.Policy, election.Status.Mode = "ElectionPolicy/web", v1alpha1.Enforce
	w := &ward{}
	w.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		election,
		&v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "leasewarden"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "policies.leasewarden.dev",
				Rules: []admissionregistrationv1.RuleWithOperations{{Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"leasewarden.dev"}, Resources: []string{"electionpolicies"},
				}}},
				ClientConfig: admissionregistrationv1.WebhookClientConfig{
					Service: &admissionregistrationv1.ServiceReference{Namespace: "warden", Name: "leasewarden"},
				},
			}},
		},
	).WithInterceptorFuncs(interceptor.Funcs{Get: w.get, List: w.list, Create: w.create, Patch: w.patch}).Build()
	return w
}

func (w *ward) check() error {
	if w.forbidden {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("not you"))
	}
	return nil
}

func (w *ward) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return errors.Join(w.check(), c.Get(ctx, key, o, opts...))
}

// list does without field selectors, which the fake client does not know.
func (w *ward) list(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	if err := w.check(); err != nil {
		return err
	}
	return listOnly{c}.List(ctx, list, opts...)
}

func (w *ward) create(_ context.Context, _ client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	options := &client.CreateOptions{}
	options.ApplyOptions(opts)
	w.writes = append(w.writes, strings.Join(options.DryRun, "")+" create "+client.ObjectKeyFromObject(o).String())
	return w.check()
}

func (w *ward) patch(_ context.Context, _ client.WithWatch, o client.Object, _ client.Patch, opts ...client.PatchOption) error {
	options := &client.PatchOptions{}
	options.ApplyOptions(opts)
	w.writes = append(w.writes, strings.Join(options.DryRun, "")+" patch "+client.ObjectKeyFromObject(o).String())
	return w.check()
}

// examine runs the command.
func (w *ward) examine(t *testing.T, output pickOutput) (stdout string, err error) {
	t.Helper()
	clock := newStepClock(pickTime)
	o := &doctorOptions{clock: clock, output: output}
	c := newDoctorCommand(clock)
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetContext(t.Context())
	var served discovery.ServerResourcesInterface = &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	err = o.examine(c, &doctor.Cluster{
		Client: w, Discovery: served, Clock: clock, Version: "v0.1.0", DefaultNamespace: defaultNamespace,
		Time: func(context.Context) (time.Time, error) { return pickTime, nil },
	})
	return out.String(), err
}

func TestDoctorOnlyTries(t *testing.T) {
	w := newWard(t)
	stdout, err := w.examine(t, pickTable)
	if exitStatus(err) != exitFailed || !strings.Contains(stdout, "does not answer the API server") || !strings.Contains(stdout, "nobody rules on Lease apps/web") {
		t.Errorf("%v, printed:\n%s", err, stdout)
	}
	if got := strings.Join(w.writes, ", "); got != "All create warden/leasewarden-doctor, All patch apps/web" {
		t.Errorf("it wrote: %s", got)
	}
	for _, line := range strings.Split(stdout, "\n") {
		if len(line) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}

func TestDoctorDoesNotKnowWhatItMayNotRead(t *testing.T) {
	w := newWard(t)
	w.forbidden = true
	stdout, err := w.examine(t, pickJSON)
	// That no CRD is served needs no rights.
	if exitStatus(err) != exitFailed {
		t.Error(err)
	}
	decoder, unknown := json.NewDecoder(strings.NewReader(stdout)), 0
	for decoder.More() {
		var f doctor.Finding
		if err := decoder.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if f.Verdict == doctor.Problem && f.Check != "crds" {
			t.Errorf("%s is taken for a problem: %s", f.Check, f.Message)
		}
		if f.Verdict == doctor.Unknown {
			unknown++
		}
	}
	if unknown < 10 {
		t.Errorf("only %d are unknown:\n%s", unknown, stdout)
	}
}

func TestDoctorWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	t.Setenv("HOME", "/nonexistent")
	c := newCommand(newStepClock(pickTime))
	c.SetArgs([]string{"doctor"})
	if err := c.ExecuteContext(t.Context()); exitStatus(err) != exitUnusable {
		t.Error(err)
	}
	c.SetArgs([]string{"doctor", "-o", "wide"})
	if err := c.ExecuteContext(t.Context()); exitStatus(err) != exitUnusable {
		t.Error(err)
	}
}
