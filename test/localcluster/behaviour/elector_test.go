package behaviour

import (
	"context"
	"strings"
	"sync"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/leasewarden/leasewarden/test/localcluster/elector"
)

// elect starts an ordinary client-go elector as a Pod on a node.
func (c *contest) elect(name, version, node string) {
	c.t.Helper()
	times := []string{c.times.LeaseDuration.String(), c.times.RenewDeadline.String(), c.times.RetryPeriod.String()}
	c.start(name, node, corev1.Container{
		Image: "testprogram:" + version, Args: append([]string{"elect", c.namespace}, times...),
	})
}

// idle starts a Pod that is a candidate and never tries, and waits until it is
// known to run.
func (c *contest) idle(name, version, node string) {
	c.t.Helper()
	c.start(name, node, corev1.Container{Image: "testprogram:" + version, Args: []string{"stubborn"}},
		func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = new(int64(1)) })
	c.running(name)
}

// outsider is an ordinary client-go elector outside of the cluster.
type outsider struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu  sync.Mutex
	log strings.Builder
}

// compete starts an elector outside of the cluster. It ends with the test, or
// as if killed.
func (c *contest) compete(identity string) *outsider {
	c.t.Helper()
	o := &outsider{done: make(chan struct{})}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), funcr.New(o.write, funcr.Options{})))
	o.cancel = cancel
	go func() {
		defer close(o.done)
		err := elector.Run(ctx, cluster.Config(), elector.Options{
			Namespace: c.namespace, Lease: c.namespace, Identity: identity, Timings: c.times,
		})
		if err != nil {
			o.write("", err.Error())
		}
	}()
	c.t.Cleanup(o.kill)
	c.t.Cleanup(func() {
		if c.t.Failed() {
			c.t.Logf("%s:\n%s", identity, o.said())
		}
	})
	return o
}

func (o *outsider) write(_, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log.WriteString(line + "\n")
}

// said is what the elector has logged.
func (o *outsider) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.String()
}

// refused is what it has logged of its refused attempts.
func (o *outsider) refused() string { return only(strings.Lines(o.said()), refusal) }

// kill ends the elector, which keeps the Lease until its term runs out.
func (o *outsider) kill() {
	o.cancel()
	<-o.done
}

// awaitRefusal waits until the elector was refused in these words.
func (c *contest) awaitRefusal(of *outsider, words ...string) {
	c.t.Helper()
	for _, text := range words {
		NewWithT(c.t).Eventually(of.refused, soon, often).Should(ContainSubstring(text))
	}
}
