package doctor

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// checkReplicas looks at the Deployment.
func checkReplicas(s *snapshot) []Finding {
	if s.deployments.err != nil {
		return unread("Deployments", s.deployments.err)
	}
	all := s.deployments.value.Items
	switch {
	case len(all) == 0 && s.outside() != "":
		return ok("no Deployment: it runs outside the cluster, at %s", s.outside())
	case len(all) == 0:
		return []Finding{problem("see docs/install.md, or give its namespace with -n",
			"Leasewarden is not installed: no Deployment has the label %s", labelText())}
	}
	var findings []Finding
	if len(all) > 1 {
		findings = append(findings, problem("remove all but one: they overwrite each other's webhook configurations",
			"there are %d installations: %s", len(all), deploymentNames(all)))
	}
	for i := range all {
		findings = append(findings, s.checkDeployment(&all[i])...)
	}
	return findings
}

func (s *snapshot) checkDeployment(d *appsv1.Deployment) []Finding {
	name, wanted, ready := d.Namespace+"/"+d.Name, int32(1), d.Status.ReadyReplicas
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	switch {
	case wanted == 0:
		return []Finding{problem(fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=2", d.Namespace, d.Name),
			"Deployment %s is scaled to 0: nothing is ruled on", name)}
	case ready == 0:
		return []Finding{problem(s.describePods(d), "no replica of Deployment %s is ready: nothing is ruled on", name)}
	case ready < wanted:
		return []Finding{warning(s.describePods(d), "%d of %d replicas of Deployment %s are ready", ready, wanted, name)}
	case d.Status.UpdatedReplicas < wanted || d.Status.ObservedGeneration < d.Generation:
		return []Finding{warning("wait until it is done: kubectl -n "+d.Namespace+" rollout status deployment "+d.Name, "Deployment %s is being rolled out", name)}
	}
	return ok("all %d of Deployment %s are ready", wanted, name)
}

// describePods says why the first Pod that is not ready is not, and where to
// look.
func (s *snapshot) describePods(d *appsv1.Deployment) string {
	where := fmt.Sprintf("kubectl -n %s describe pods -l %s", d.Namespace, labelText())
	for i := range s.pods.value.Items {
		if p := &s.pods.value.Items[i]; p.Namespace == d.Namespace {
			if why := notReady(p); why != "" {
				return fmt.Sprintf("Pod %s: %s; see %s", p.Name, why, where)
			}
		}
	}
	return "see " + where
}

func notReady(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			return strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
	}
	for _, c := range p.Status.Conditions {
		if (c.Type == corev1.PodReady || c.Type == corev1.PodScheduled) && c.Status != corev1.ConditionTrue {
			return strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		}
	}
	return ""
}

func deploymentNames(all []appsv1.Deployment) string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Namespace + "/" + all[i].Name
	}
	return strings.Join(names, ", ")
}
