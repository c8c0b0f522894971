package localcluster_test

import (
	"io"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestServiceReachesItsReadyPodsInTurn(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	service, err := client.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"},
			Ports:    []corev1.ServicePort{{Port: 8443, TargetPort: intstr.FromString("http")}},
		},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	address := "http://" + service.Spec.ClusterIP + ":8443/hostname"
	fetch := func() (string, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			return "", err
		}
		request.Close = true // a new connection each time
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
	_, err = fetch()
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")), "there is no pod yet")

	spec := podSpec("serve")
	spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	spec.TerminationGracePeriodSeconds = new(int64(2))
	createDeployment(t, namespace, "web", 2, spec)
	seen := map[string]bool{}
	g.Eventually(func(g Gomega) {
		name, err := fetch()
		g.Expect(err).NotTo(HaveOccurred())
		seen[name] = true
		g.Expect(seen).To(HaveLen(2))
	}, "10s", "20ms").Should(Succeed())
	for _, pod := range podsOf(t, namespace, "web") {
		g.Expect(seen).To(HaveKey(pod.Name))
	}

	g.Expect(client.AppsV1().Deployments(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() error {
		_, err := fetch()
		return err
	}, "20s", "50ms").Should(MatchError(ContainSubstring("connection refused")))
}
