package inventory

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// pageSize keeps a list of a large cluster from being one large answer. It is
// kubectl's.
const pageSize = 500

// list adds all objects of a kind to the set.
func (r *reader) list(list client.ObjectList, options ...client.ListOption) {
	if r.err != nil {
		return
	}
	for token := ""; ; token = list.GetContinue() {
		page := append(options[:len(options):len(options)], client.Limit(pageSize), client.Continue(token))
		if err := r.client.List(r.ctx, list, page...); err != nil {
			r.err = explain(list, err)
			return
		}
		if err := meta.EachListItem(list, r.addItem); err != nil {
			r.err = err
			return
		}
		if list.GetContinue() == "" {
			return
		}
	}
}

func (r *reader) addItem(o runtime.Object) error {
	if pod, ok := o.(*corev1.Pod); ok {
		r.PodNamespaces.Insert(pod.Namespace)
		r.onHostNetwork = r.onHostNetwork || pod.Spec.HostNetwork
	}
	// The list is reused for its next page.
	r.Add(o.DeepCopyObject())
	return nil
}

// explain says what to do about a list that was refused.
func explain(list client.ObjectList, err error) error {
	kind := strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List")
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("cannot list %s objects: %w: ask for the permission to list them, or give manifests with -f", kind, err)
	case meta.IsNoMatchError(err) && isOurs(list):
		return fmt.Errorf("this cluster does not serve %s %s: install the CRDs of Leasewarden, or give manifests with -f", v1alpha1.GroupVersion, kind)
	}
	return fmt.Errorf("cannot list %s objects: %w", kind, err)
}

func isOurs(list client.ObjectList) bool {
	switch list.(type) {
	case *v1alpha1.ElectionPolicyList, *v1alpha1.ClusterElectionPolicyList, *v1alpha1.CandidateList, *v1alpha1.ElectionList:
		return true
	}
	return false
}
