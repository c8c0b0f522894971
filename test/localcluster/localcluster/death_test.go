package localcluster_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// holdVariable makes the test binary a process that holds a cluster in the
// directory that it names, until it is killed.
const holdVariable = "LEASEWARDEN_TEST_HOLD_CLUSTER"

func holdCluster(dir string) {
	ctx := context.Background()
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Dir: dir, Images: map[string]string{testImage: os.Getenv("LEASEWARDEN_TEST_PROGRAM")},
	})
	if err != nil {
		fail(err)
	}
	client, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		fail(err)
	}
	if _, err := cluster.StartProcess("sleeper", "/bin/sh", "-c", "sleep 1000 & sleep 1000"); err != nil {
		fail(err)
	}
	// The pod's process has its environment from its spec: the marker is here.
	_, err = client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "held"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: container, Image: testImage, Command: []string{"/bin/sh", "-c", "sleep 1000 & sleep 1000"},
			Env: []corev1.EnvVar{{Name: holdVariable, Value: dir}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		fail(err)
	}
	fmt.Println("started")
	select {}
}

// marked lists the processes that have the marker in their environment.
func marked(g Gomega, dir string) (pids []int, programs map[string]int) {
	marker := []byte(holdVariable + "=" + dir + "\x00")
	programs = map[string]int{}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	g.Expect(err).NotTo(HaveOccurred())
	for _, path := range environments {
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, marker) {
			continue // ended meanwhile, or not ours
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		g.Expect(err).NotTo(HaveOccurred())
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		name, _, _ := bytes.Cut(command, []byte{0})
		pids = append(pids, pid)
		programs[filepath.Base(string(name))]++
	}
	return pids, programs
}

func TestEverythingEndsWithTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	program, err := builder.Package(t.Context(), "..", "./testprogram")
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holdVariable+"="+dir, "LEASEWARDEN_TEST_PROGRAM="+program)
	holder.Stderr = os.Stderr
	output, err := holder.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(holder.Start()).To(Succeed())
	t.Cleanup(func() { _ = holder.Process.Kill() })
	lines := bufio.NewScanner(output)
	g.Expect(lines.Scan()).To(BeTrue())
	g.Expect(lines.Text()).To(Equal("started"))

	g.Eventually(func(g Gomega) {
		_, programs := marked(g, dir)
		for _, name := range []string{localcluster.Etcd, localcluster.APIServer, localcluster.ControllerManager, localcluster.Scheduler} {
			g.Expect(programs).To(HaveKey(name))
		}
		// Two in the pod and two on the host.
		g.Expect(programs).To(HaveKeyWithValue("sleep", 4))
	}, "20s", "100ms").Should(Succeed())

	g.Expect(holder.Process.Kill()).To(Succeed())
	_ = holder.Wait()
	g.Eventually(func(g Gomega) {
		_, programs := marked(g, dir)
		g.Expect(programs).To(BeEmpty())
	}, "10s", "50ms").Should(Succeed())
}
