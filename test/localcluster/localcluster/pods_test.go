package localcluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const container = "main"

// report is what the test program prints first.
type report struct {
	Hostname  string
	Namespace string
	PID       int
	User      string
	Extra     map[string]authenticationv1.ExtraValue
	Env       map[string]string
	Args      []string
	Error     string
}

func podSpec(args ...string) corev1.PodSpec {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:  container,
			Image: testImage,
			Args:  args,
			Env: []corev1.EnvVar{
				field("POD_NAME", "metadata.name"),
				field("POD_IP", "status.podIP"),
				field("NODE_NAME", "spec.nodeName"),
				{Name: "GREETING", Value: "hello $(POD_NAME)"},
			},
		}},
	}
}

func createPod(t *testing.T, namespace, name string, spec corev1.PodSpec) *corev1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}, metav1.CreateOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return pod
}

func getPod(t *testing.T, namespace, name string) func(Gomega) *corev1.Pod {
	return func(g Gomega) *corev1.Pod {
		pod, err := client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return pod
	}
}

// createDeployment runs the test program, and waits for the replicas.
func createDeployment(t *testing.T, namespace, name string, replicas int32, spec corev1.PodSpec) {
	t.Helper()
	labels := map[string]string{"app": name}
	_, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}, metav1.CreateOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	awaitDeployment(t, namespace, name, replicas)
}

func awaitDeployment(t *testing.T, namespace, name string, replicas int32) {
	t.Helper()
	NewWithT(t).Eventually(func(g Gomega) {
		d, err := client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
		g.Expect(d.Status.UpdatedReplicas).To(Equal(replicas))
		g.Expect(d.Status.AvailableReplicas).To(Equal(replicas))
		g.Expect(d.Status.Replicas).To(Equal(replicas))
	}, "40s", "100ms").Should(Succeed())
}

func podsOf(t *testing.T, namespace, app string) []corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return list.Items
}

func logsOf(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (string, error) {
	content, err := client.CoreV1().Pods(namespace).GetLogs(pod, options).DoRaw(ctx)
	return string(content), err
}

func reportOf(t *testing.T, namespace, pod string) report {
	t.Helper()
	g := NewWithT(t)
	var r report
	g.Eventually(func(g Gomega) {
		log, err := logsOf(t.Context(), namespace, pod, &corev1.PodLogOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		line, _, whole := strings.Cut(log, "\n")
		g.Expect(whole).To(BeTrue(), "log: %s", log)
		g.Expect(json.Unmarshal([]byte(line), &r)).To(Succeed())
	}, "20s", "100ms").Should(Succeed())
	return r
}

func TestDeploymentRunsAsPodsOfTheCluster(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	createDeployment(t, namespace, "web", 2, podSpec("serve"))
	for _, pod := range podsOf(t, namespace, "web") {
		r := reportOf(t, namespace, pod.Name)
		g.Expect(r.Error).To(BeEmpty(), "the in-cluster client works")
		g.Expect(r.Hostname).To(Equal(pod.Name))
		g.Expect(r.Namespace).To(Equal(namespace))
		g.Expect(r.PID).To(Equal(1))
		g.Expect(r.User).To(Equal("system:serviceaccount:" + namespace + ":default"))
		g.Expect(r.Extra).To(HaveKeyWithValue("authentication.kubernetes.io/pod-name", authenticationv1.ExtraValue{pod.Name}))
		g.Expect(r.Extra).To(HaveKeyWithValue("authentication.kubernetes.io/pod-uid", authenticationv1.ExtraValue{string(pod.UID)}))
		g.Expect(r.Extra).To(HaveKeyWithValue("authentication.kubernetes.io/node-name", authenticationv1.ExtraValue{pod.Spec.NodeName}))
		g.Expect(r.Env).To(HaveKeyWithValue("POD_NAME", pod.Name))
		g.Expect(r.Env).To(HaveKeyWithValue("POD_IP", pod.Status.PodIP))
		g.Expect(r.Env).To(HaveKeyWithValue("NODE_NAME", pod.Spec.NodeName))
		g.Expect(r.Env).To(HaveKeyWithValue("GREETING", "hello "+pod.Name))
		g.Expect(pod.Status.ContainerStatuses[0].ContainerID).NotTo(BeEmpty())

		pid, err := cluster.PodProcess(namespace, pod.Name, container)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pid).To(BeNumerically(">", 1))
	}
}

func TestHostNetworkPodHasTheNodesName(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	spec := podSpec()
	spec.HostNetwork, spec.RestartPolicy = true, corev1.RestartPolicyNever
	createPod(t, namespace, "host", spec)
	r := reportOf(t, namespace, "host")
	NewWithT(t).Expect(r.Hostname).To(Equal(r.Env["NODE_NAME"]))
}

func TestExitCodeAndRestart(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	never := podSpec("exit", "7")
	never.RestartPolicy = corev1.RestartPolicyNever
	createPod(t, namespace, "never", never)
	fine := podSpec()
	fine.RestartPolicy = corev1.RestartPolicyOnFailure
	createPod(t, namespace, "fine", fine)
	createPod(t, namespace, "always", podSpec("exit", "7"))

	g.Eventually(getPod(t, namespace, "never"), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodFailed))
	terminated := getPod(t, namespace, "never")(g).Status.ContainerStatuses[0].State.Terminated
	g.Expect(terminated.ExitCode).To(BeEquivalentTo(7))
	g.Expect(terminated.Reason).To(Equal("Error"))
	g.Expect(terminated.FinishedAt.IsZero()).To(BeFalse())

	g.Eventually(getPod(t, namespace, "fine"), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodSucceeded))
	g.Expect(getPod(t, namespace, "fine")(g).Status.ContainerStatuses[0].State.Terminated.Reason).To(Equal("Completed"))

	// The first restart is immediate, the second waits.
	g.Eventually(func(g Gomega) {
		status := getPod(t, namespace, "always")(g).Status
		g.Expect(status.ContainerStatuses).To(HaveLen(1))
		g.Expect(status.ContainerStatuses[0].RestartCount).To(BeEquivalentTo(1))
		g.Expect(status.ContainerStatuses[0].State.Waiting).To(HaveField("Reason", "CrashLoopBackOff"))
		g.Expect(status.ContainerStatuses[0].LastTerminationState.Terminated).To(HaveField("ExitCode", BeEquivalentTo(7)))
		g.Expect(status.Phase).To(Equal(corev1.PodRunning))
	}, "20s", "100ms").Should(Succeed())
	previous, err := logsOf(t.Context(), namespace, "always", &corev1.PodLogOptions{Previous: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(previous).To(ContainSubstring(`"Hostname":"always"`))
}

// The kubelet of a real node looks at its containers once a second: the end of
// one must not be known earlier here than there.
func TestKilledContainerIsSeenAndRestarted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	createPod(t, namespace, "victim", podSpec("serve"))
	g.Eventually(getPod(t, namespace, "victim"), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodRunning))

	ended, err := cluster.KillContainer(namespace, "victim", container)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ended).NotTo(BeZero())
	g.Eventually(func(g Gomega) {
		status := getPod(t, namespace, "victim")(g).Status.ContainerStatuses[0]
		g.Expect(status.RestartCount).To(BeEquivalentTo(1))
		g.Expect(status.State.Running).NotTo(BeNil())
		g.Expect(status.LastTerminationState.Terminated).To(HaveField("ExitCode", BeEquivalentTo(137)))
	}, "20s", "50ms").Should(Succeed())
}

func TestDeletedPodGetsItsGracePeriod(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	createPod(t, namespace, "polite", podSpec("serve"))
	stubborn := podSpec("stubborn")
	stubborn.TerminationGracePeriodSeconds = new(int64(3))
	createPod(t, namespace, "stubborn", stubborn)
	for _, name := range []string{"polite", "stubborn"} {
		g.Eventually(getPod(t, namespace, name), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodRunning))
		reportOf(t, namespace, name) // its signal handlers are in place
	}
	politeLog, err := cluster.ContainerLog(namespace, "polite", container)
	g.Expect(err).NotTo(HaveOccurred())

	watch, err := client.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	defer watch.Stop()
	start := time.Now()
	for _, name := range []string{"polite", "stubborn"} {
		g.Expect(client.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{})).To(Succeed())
	}
	gone := map[string]*corev1.ContainerStateTerminated{}
	when := map[string]time.Duration{}
	deadline := time.After(30 * time.Second)
	for len(gone) < 2 {
		select {
		case <-deadline:
			t.Fatalf("gone after 30 s: %v", gone)
		case event := <-watch.ResultChan():
			if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == "DELETED" {
				gone[pod.Name] = pod.Status.ContainerStatuses[0].State.Terminated
				when[pod.Name] = time.Since(start)
			}
		}
	}
	// The last state is reported before the pod is gone.
	g.Expect(gone["polite"]).To(HaveField("ExitCode", BeEquivalentTo(0)))
	g.Expect(gone["stubborn"]).To(HaveField("ExitCode", BeEquivalentTo(137)))
	g.Expect(when["stubborn"]).To(BeNumerically(">=", 3*time.Second))
	g.Expect(when["polite"]).To(BeNumerically("<", when["stubborn"]))
	log, err := os.ReadFile(politeLog)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(log)).To(HaveSuffix("terminated\n"))
}

func TestLogsThroughTheAPIServer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	createPod(t, namespace, "talker", podSpec("serve"))
	reportOf(t, namespace, "talker")

	stream, err := client.CoreV1().Pods(namespace).GetLogs("talker", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	g.Expect(lines.Scan()).To(BeTrue())
	g.Expect(lines.Text()).To(HavePrefix("{"))
	g.Expect(cluster.Signal(namespace, "talker", container, 15)).To(Succeed())
	g.Expect(lines.Scan()).To(BeTrue())
	g.Expect(lines.Text()).To(Equal("terminated"))

	g.Eventually(func() (string, error) {
		return logsOf(t.Context(), namespace, "talker", &corev1.PodLogOptions{Previous: true, TailLines: new(int64(1))})
	}, "20s", "100ms").Should(Equal("terminated\n"))
}

func TestRollingUpdateAndReadiness(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	spec := podSpec("serve")
	spec.TerminationGracePeriodSeconds = new(int64(5))
	createDeployment(t, namespace, "web", 2, spec)
	before := podsOf(t, namespace, "web")

	deployment, err := client.AppsV1().Deployments(namespace).Get(t.Context(), "web", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	deployment.Spec.Template.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(8080)}},
		PeriodSeconds: 1,
	}
	_, err = client.AppsV1().Deployments(namespace).Update(t.Context(), deployment, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	// The rollout waits for each new pod to say that it is ready.
	told := map[string]bool{}
	g.Eventually(func(g Gomega) {
		for _, pod := range podsOf(t, namespace, "web") {
			if pod.Spec.Containers[0].ReadinessProbe == nil || pod.Status.Phase != corev1.PodRunning || told[pod.Name] {
				continue
			}
			g.Expect(pod.Status.ContainerStatuses[0].Ready).To(BeFalse())
			response, err := http.Post("http://"+pod.Status.PodIP+":8080/ready", "", nil)
			g.Expect(err).NotTo(HaveOccurred())
			response.Body.Close()
			told[pod.Name] = true
		}
		g.Expect(told).To(HaveLen(2))
	}, "40s", "100ms").Should(Succeed())
	awaitDeployment(t, namespace, "web", 2)
	for _, pod := range before {
		g.Eventually(func() bool {
			_, err := client.CoreV1().Pods(namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}, "20s", "100ms").Should(BeTrue())
	}
}

func TestUnknownImageWaitsUntilItIsAdded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	spec := podSpec("serve")
	image := namespace + ":v1" // unheard of, also when the test is run again
	spec.Containers[0].Image = image
	createPod(t, namespace, "early", spec)
	g.Eventually(func(g Gomega) {
		status := getPod(t, namespace, "early")(g).Status
		g.Expect(status.Phase).To(Equal(corev1.PodPending))
		g.Expect(status.ContainerStatuses).To(HaveLen(1))
		g.Expect(status.ContainerStatuses[0].State.Waiting).To(HaveField("Reason", "ErrImagePull"))
	}, "20s", "100ms").Should(Succeed())
	program, err := builder.Package(t.Context(), "..", "./testprogram")
	g.Expect(err).NotTo(HaveOccurred())
	cluster.AddImage(image, program)
	g.Eventually(getPod(t, namespace, "early"), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodRunning))
}

func TestConfigMapsInEnvironmentAndFiles(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace := newNamespace(t)
	spec := podSpec("serve")
	c := &spec.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: "FROM_CONFIG", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "colour",
	}}})
	c.VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: "/etc/settings"}}
	spec.Volumes = []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
	}}}}
	// The shell shows the file; the image is the test program all the same.
	c.Command, c.Args = []string{"/bin/sh", "-c"}, []string{`cat /etc/settings/colour; echo " $FROM_CONFIG"`}
	spec.RestartPolicy = corev1.RestartPolicyNever
	createPod(t, namespace, "configured", spec)
	g.Eventually(getPod(t, namespace, "configured"), "10s", "100ms").Should(HaveField("Status.Phase", corev1.PodPending))

	_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"colour": "blue"},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(getPod(t, namespace, "configured"), "20s", "100ms").Should(HaveField("Status.Phase", corev1.PodSucceeded))
	g.Expect(logsOf(t.Context(), namespace, "configured", &corev1.PodLogOptions{})).To(Equal("blue blue\n"))
}
