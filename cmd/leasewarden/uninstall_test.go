package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/terms"
)

// installed is a cluster that Leasewarden is installed in.
type installed struct {
	client.Client
	// runs says that Leasewarden cleans the Leases when the policies are gone.
	runs bool
	// noCRDs says that policies are not served.
	noCRDs bool
	// stubborn is a Lease that somebody writes to before each of our patches.
	stubborn string
	// policies were deleted, leases were patched by us.
	policies, leases []string
	pages            int
}

func newInstalled(t *testing.T) *installed {
	t.Helper()
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(v1alpha1.AddToScheme, coordinationv1.AddToScheme, admissionregistrationv1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects := []client.Object{
		&v1alpha1.ElectionPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}},
		&v1alpha1.ClusterElectionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "all"}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "leasewarden"}},
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "leasewarden"}},
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "another"}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "unmarked", Annotations: map[string]string{"x": "y"}}},
		&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "coordinated"},
			Spec: coordinationv1.LeaseSpec{
				Strategy:        ptr.To(coordinationv1.CoordinatedLeaseStrategy("leasewarden.dev/Sticky")),
				PreferredHolder: ptr.To("somebody"),
			},
		},
	}
	for i, key := range v1alpha1.LeaseAnnotations {
		objects = append(objects, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("marked-%d", i), Annotations: map[string]string{key: "z", "x": "y"}},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("z")},
		})
	}
	in := &installed{}
	in.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{List: in.list, Delete: in.delete, Patch: in.patch}).Build()
	return in
}

// list gives the Leases in pages of two, and Leasewarden its turn.
func (in *installed) list(ctx context.Context, w client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	leases, ok := list.(*coordinationv1.LeaseList)
	if !ok {
		if in.noCRDs {
			return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "electionpolicies"}, "")
		}
		return w.List(ctx, list, opts...)
	}
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if o.Limit == 0 || o.FieldSelector == nil || o.FieldSelector.String() != "metadata.namespace!=kube-node-lease" {
		return fmt.Errorf("the options are %+v", o)
	}
	if err := w.List(ctx, leases); err != nil {
		return err
	}
	if in.runs && len(in.policies) > 0 {
		in.runs = false
		for i := range leases.Items {
			if patch, err := terms.Cleanup(&leases.Items[i]); err != nil || patch == nil {
				continue
			}
			leases.Items[i].Annotations, leases.Items[i].Spec.PreferredHolder = nil, nil
			if err := w.Update(ctx, &leases.Items[i]); err != nil {
				return err
			}
		}
	}
	from := 0
	if o.Continue != "" {
		fmt.Sscan(o.Continue, &from)
	}
	to := min(from+2, len(leases.Items))
	if to < len(leases.Items) {
		leases.Continue = fmt.Sprint(to)
	}
	leases.Items = slices.Clone(leases.Items[from:to])
	in.pages++
	return nil
}

func (in *installed) delete(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	switch o.(type) {
	case *v1alpha1.ElectionPolicy, *v1alpha1.ClusterElectionPolicy:
		in.policies = append(in.policies, o.GetName())
	}
	return w.Delete(ctx, o, opts...)
}

func (in *installed) patch(ctx context.Context, w client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	in.leases = append(in.leases, o.GetName())
	if o.GetName() == in.stubborn {
		return apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, o.GetName(), nil)
	}
	return w.Patch(ctx, o, patch, opts...)
}

func (in *installed) uninstall(t *testing.T, yes bool) (stdout, stderr string, err error) {
	t.Helper()
	o := &uninstallOptions{clock: newStepClock(pickTime), yes: yes, client: in}
	c := newUninstallCommand(o.clock)
	var out, errs bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&errs)
	c.SetContext(t.Context())
	err = o.run(c)
	return out.String(), errs.String(), err
}

func (in *installed) left(t *testing.T) *leftovers {
	t.Helper()
	found, err := findLeftovers(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestUninstallOnlySaysWhatItWouldDo(t *testing.T) {
	in := newInstalled(t)
	stdout, stderr, err := in.uninstall(t, false)
	if err != nil || stderr != "" {
		t.Fatalf("%v, printed %q", err, stderr)
	}
	for _, want := range []string{"policies: 2", "ElectionPolicy a/p", "ClusterElectionPolicy all", "6 of 7", "a/coordinated", "named leasewarden: 2",
		"Nothing was changed", "--yes", "kubectl delete -k", "helm uninstall leasewarden -n leasewarden-system"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in:\n%s", want, stdout)
		}
	}
	for _, line := range strings.Split(stdout, "\n") {
		if len(line) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	if found := in.left(t); len(in.policies)+len(in.leases) > 0 || len(found.policies) != 2 || len(found.leases) != 6 || len(found.webhooks) != 2 {
		t.Errorf("something was changed: %+v", found)
	}
}

func TestUninstallLeavesNothingBehind(t *testing.T) {
	for name, test := range map[string]struct {
		runs, noCRDs bool
		// deleted and patched are how many policies and Leases.
		deleted, patched int
		waits            bool
	}{
		"Leasewarden runs":  {runs: true, deleted: 2},
		"it does not":       {deleted: 2, patched: 6, waits: true},
		"the CRDs are gone": {noCRDs: true, patched: 6, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstalled(t)
			in.runs, in.noCRDs = test.runs, test.noCRDs
			stdout, stderr, err := in.uninstall(t, true)
			if err != nil || !strings.Contains(stdout, "Done.") || !strings.Contains(stdout, "kubectl delete -k") {
				t.Fatalf("%v, printed:\n%s", err, stdout)
			}
			if waits := strings.Contains(stderr, "waiting until they are gone: what is ours on Lease a/"); waits != test.waits {
				t.Errorf("printed %q", stderr)
			}
			if len(in.policies) != test.deleted || len(in.leases) != test.patched || in.pages < 4 {
				t.Errorf("deleted %q, patched %q, read %d pages", in.policies, in.leases, in.pages)
			}
			if found := in.left(t); !found.isEmpty() || found.all != 7 {
				t.Errorf("left: %+v", found)
			}
			if err := in.Get(t.Context(), client.ObjectKey{Name: "another"}, &admissionregistrationv1.MutatingWebhookConfiguration{}); err != nil {
				t.Error(err)
			}
			lease := &coordinationv1.Lease{}
			if err := in.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "marked-0"}, lease); err != nil || *lease.Spec.HolderIdentity != "z" {
				t.Errorf("%v: the Lease became %+v", err, lease)
			}

			stdout, _, err = in.uninstall(t, true)
			if err != nil || !strings.Contains(stdout, "nothing of Leasewarden's") || !strings.Contains(stdout, "helm uninstall") {
				t.Errorf("again: %v, printed:\n%s", err, stdout)
			}
		})
	}
}

func TestUninstallSaysWhatItCannotRemove(t *testing.T) {
	in := newInstalled(t)
	in.stubborn = "marked-3"
	_, _, err := in.uninstall(t, true)
	if exitStatus(err) != exitFailed || !strings.Contains(err.Error(), "what is ours on Lease a/marked-3 (of 1)") {
		t.Errorf("the error is %v", err)
	}
	if found := in.left(t); len(found.webhooks) != 2 {
		t.Errorf("left: %+v", found)
	}
}
