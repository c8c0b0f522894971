package behaviour

import (
	"context"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shown is how many lines of a log are worth showing.
const shown = 15

// explain shows what those involved said, if the test has failed.
func (c *contest) explain() {
	if !c.t.Failed() {
		return
	}
	pods, err := kube.CoreV1().Pods(c.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.t.Log(err)
		return
	}
	for _, pod := range pods.Items {
		path, err := cluster.ContainerLog(c.namespace, pod.Name, container)
		if err != nil {
			c.t.Logf("%s (%s): %v", pod.Name, pod.Status.Phase, err)
			continue
		}
		c.t.Logf("%s (%s):\n%s", pod.Name, pod.Status.Phase, tail(path, ""))
	}
	for _, r := range warden.Replicas {
		c.t.Logf("%s:\n%s", r.Log(), tail(r.Log(), c.namespace))
	}
}

// tail returns the last lines of a file that contain text.
func tail(path, text string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-shown):], "")
}
