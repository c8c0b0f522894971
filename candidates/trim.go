package candidates

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// lastApplied holds a whole second copy of an object that kubectl applied.
const lastApplied = corev1.LastAppliedConfigAnnotation

// priorityOwned says, in a trimmed Pod, when its priority was set.
const priorityOwned = `{"f:metadata":{"f:annotations":{"f:` + v1alpha1.PriorityAnnotation + `":{}}}}`

// trimPod keeps of a Pod what candidates are made from, and what tells whether
// its containers still run.
func trimPod(o any) *corev1.Pod {
	pod := o.(*corev1.Pod)
	return &corev1.Pod{
		ObjectMeta: trimMeta(&pod.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName:          pod.Spec.NodeName,
			Hostname:          pod.Spec.Hostname,
			HostnameOverride:  pod.Spec.HostnameOverride,
			Subdomain:         pod.Spec.Subdomain,
			SetHostnameAsFQDN: pod.Spec.SetHostnameAsFQDN,
			HostNetwork:       pod.Spec.HostNetwork,
			RestartPolicy:     pod.Spec.RestartPolicy,
			Containers:        trimContainers(pod.Spec.Containers),
			InitContainers:    trimContainers(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase:                      pod.Status.Phase,
			Reason:                     pod.Status.Reason,
			StartTime:                  pod.Status.StartTime,
			Conditions:                 trimConditions(pod.Status.Conditions),
			InitContainerStatuses:      trimStatuses(pod.Status.InitContainerStatuses),
			ContainerStatuses:          trimStatuses(pod.Status.ContainerStatuses),
			EphemeralContainerStatuses: trimStatuses(pod.Status.EphemeralContainerStatuses),
		},
	}
}

func trimMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	trimmed := metav1.ObjectMeta{
		Namespace:                  m.Namespace,
		Name:                       m.Name,
		UID:                        m.UID,
		ResourceVersion:            m.ResourceVersion,
		Generation:                 m.Generation,
		CreationTimestamp:          m.CreationTimestamp,
		DeletionTimestamp:          m.DeletionTimestamp,
		DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		Labels:                     m.Labels,
		Annotations:                trimAnnotations(m.Annotations),
		OwnerReferences:            m.OwnerReferences,
	}
	if _, ok := m.Annotations[v1alpha1.PriorityAnnotation]; ok {
		since := metav1.NewTime(setSince(m, podPriorityPath))
		trimmed.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &since, FieldsV1: &metav1.FieldsV1{Raw: []byte(priorityOwned)}}}
	}
	return trimmed
}

func trimAnnotations(annotations map[string]string) map[string]string {
	if _, ok := annotations[lastApplied]; !ok {
		return annotations
	}
	kept := maps.Clone(annotations)
	delete(kept, lastApplied)
	return kept
}

func trimContainers(list []corev1.Container) []corev1.Container {
	if len(list) == 0 {
		return nil
	}
	kept := make([]corev1.Container, len(list))
	for i := range list {
		kept[i] = corev1.Container{Name: list[i].Name, Image: list[i].Image, RestartPolicy: list[i].RestartPolicy}
	}
	return kept
}

func trimConditions(list []corev1.PodCondition) []corev1.PodCondition {
	for i := range list {
		if list[i].Type == corev1.PodReady {
			return []corev1.PodCondition{{Type: corev1.PodReady, Status: list[i].Status, LastTransitionTime: list[i].LastTransitionTime}}
		}
	}
	return nil
}

func trimStatuses(list []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(list) == 0 {
		return nil
	}
	kept := make([]corev1.ContainerStatus, len(list))
	for i := range list {
		kept[i] = corev1.ContainerStatus{
			Name:                 list[i].Name,
			State:                list[i].State,
			LastTerminationState: list[i].LastTerminationState,
			Ready:                list[i].Ready,
			RestartCount:         list[i].RestartCount,
			ContainerID:          list[i].ContainerID,
		}
	}
	return kept
}

// dropManagedFields keeps all of an object but the managed fields, which are
// often its larger part.
func dropManagedFields[T metav1.Object](o any) T {
	object := o.(T)
	object.SetManagedFields(nil)
	return object
}

// trimLeaseCandidate takes either version.
func trimLeaseCandidate(o any) *coordinationv1beta1.LeaseCandidate {
	if alpha, ok := o.(*coordinationv1alpha2.LeaseCandidate); ok {
		o = fromAlpha(alpha)
	}
	return dropManagedFields[*coordinationv1beta1.LeaseCandidate](o)
}

// trimCandidate keeps the managed fields of a Candidate that has a priority:
// they say since when.
func trimCandidate(o any) *v1alpha1.Candidate {
	candidate := o.(*v1alpha1.Candidate)
	if candidate.Spec.Priority == nil {
		candidate.ManagedFields = nil
	}
	return candidate
}

// labelled is what is kept of an object of which only the labels count.
type labelled struct{ labels map[string]string }

func trimToLabels(o any) *labelled {
	return &labelled{labels: o.(metav1.Object).GetLabels()}
}

func trimReplicaSet(o any) *numbered { return replicaSetRevision(o.(metav1.Object)) }

func trimControllerRevision(o any) *numbered {
	return controllerRevision(o.(*appsv1.ControllerRevision))
}
