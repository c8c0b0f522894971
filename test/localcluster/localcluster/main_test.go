package localcluster_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// The cluster that the tests of this package share. Each test has a namespace
// of its own in it.
var (
	cluster *localcluster.Cluster
	client  kubernetes.Interface
	builder *binaries.Builder
)

const (
	testImage = "testprogram:v1"
	zoneLabel = corev1.LabelTopologyZone
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		holdCluster(dir)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if builder, err = binaries.New("", os.Stderr); err != nil {
		return fail(err)
	}
	program, err := builder.Package(ctx, "..", "./testprogram")
	if err != nil {
		return fail(err)
	}
	cluster, err = localcluster.Start(ctx, localcluster.Options{
		Nodes: []localcluster.Node{
			{Name: "node-1", Labels: map[string]string{zoneLabel: "a"}},
			{Name: "node-2", Labels: map[string]string{zoneLabel: "b"}},
		},
		Images:     map[string]string{testImage: program},
		Components: []binaries.Component{{Name: localcluster.Scheduler, Version: "1.36.3"}},
		Builder:    builder,
		Out:        os.Stderr,
	})
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if client, err = kubernetes.NewForConfig(cluster.Config()); err != nil {
		return fail(err)
	}
	return m.Run()
}

// newNamespace makes a namespace for one test and deletes it afterwards.
func newNamespace(t *testing.T) string {
	t.Helper()
	g := gomega.NewWithT(t)
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
	})
	g.Eventually(func() error {
		_, err := client.CoreV1().ServiceAccounts(namespace.Name).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	}, "20s", "50ms").Should(gomega.Succeed())
	return namespace.Name
}
