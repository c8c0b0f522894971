package kubelet

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	"k8s.io/apimachinery/pkg/types"

	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// followInterval is how often a followed log is looked at for more.
const followInterval = 100 * time.Millisecond

// findContainer returns the container, to be used with the worker's lock held.
func (k *Kubelet) findContainer(namespace, pod, name string) (*podWorker, *container, error) {
	w := k.worker(types.NamespacedName{Namespace: namespace, Name: pod})
	if w == nil {
		return nil, nil, errdefs.NotFoundf("pod %s/%s is not on node %s", namespace, pod, k.config.NodeName)
	}
	for _, c := range w.all() {
		if c.spec.Name == name {
			return w, c, nil
		}
	}
	return nil, nil, errdefs.NotFoundf("pod %s/%s has no container %s", namespace, pod, name)
}

// Container returns the process of a container's current or last run, nil if
// it has not been started, and the path of its log.
func (k *Kubelet) Container(namespace, pod, name string) (p *process.Process, log string, err error) {
	w, c, err := k.findContainer(namespace, pod, name)
	if err != nil {
		return nil, "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return c.process, c.log, nil
}

// GetContainerLogs implements virtual-kubelet's provider. Timestamps and "since"
// are not supported: a container's log is what it wrote and nothing else.
func (k *Kubelet) GetContainerLogs(ctx context.Context, namespace, pod, name string, options api.ContainerLogOpts) (io.ReadCloser, error) {
	w, c, err := k.findContainer(namespace, pod, name)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	path, run := c.log, c.process
	if options.Previous {
		path, run = c.previous, nil
	}
	w.mu.Unlock()
	if path == "" {
		return nil, errdefs.NotFoundf("container %s of pod %s/%s has no such log yet", name, namespace, pod)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if options.Tail > 0 {
		if err := seekTail(file, options.Tail); err != nil {
			file.Close()
			return nil, err
		}
	}
	var reader io.Reader = file
	if options.Follow && run != nil {
		reader = &follower{ctx: ctx, file: file, run: run}
	}
	if options.LimitBytes > 0 {
		reader = io.LimitReader(reader, int64(options.LimitBytes))
	}
	return struct {
		io.Reader
		io.Closer
	}{reader, file}, nil
}

// seekTail moves to the beginning of the last n lines.
func seekTail(file *os.File, n int) error {
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	end := len(content)
	if end > 0 && content[end-1] == '\n' {
		end--
	}
	start := end
	for range n {
		i := bytes.LastIndexByte(content[:start], '\n')
		if i < 0 {
			start = 0
			break
		}
		start = i
	}
	if start > 0 {
		start++
	}
	_, err = file.Seek(int64(start), io.SeekStart)
	return err
}

// follower reads a log until its container has ended or nobody listens.
type follower struct {
	ctx  context.Context
	file *os.File
	run  *process.Process
}

func (f *follower) Read(buffer []byte) (int, error) {
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for {
		// In this order: what was written before the end is read after it.
		_, _, ended := f.run.Exit()
		n, err := f.file.Read(buffer)
		if n > 0 || (err != nil && err != io.EOF) {
			return n, err
		}
		if ended {
			return 0, io.EOF
		}
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-ticker.C:
		}
	}
}
