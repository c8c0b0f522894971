package installation

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// readyTimeout is how long a replica may take until it is ready.
const readyTimeout = time.Minute

// Replica is one process of Leasewarden. It keeps its ports over restarts.
type Replica struct {
	cluster                  *localcluster.Cluster
	name, program            string
	args                     []string
	webhook, health, metrics int
	process                  *process.Process
}

func newReplica(cluster *localcluster.Cluster, name, program string, args []string) (*Replica, error) {
	r := &Replica{cluster: cluster, name: name, program: program}
	if err := freePorts(&r.webhook, &r.health, &r.metrics); err != nil {
		return nil, err
	}
	r.args = append(slices.Clone(args),
		"--webhook-bind-address=127.0.0.1", fmt.Sprintf("--webhook-port=%d", r.webhook),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", r.health),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", r.metrics))
	return r, nil
}

// freePorts finds ports of the loopback address that nobody listens on.
func freePorts(ports ...*int) error {
	for _, port := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		// Held until all are found, so that they differ.
		defer listener.Close()
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// Start starts the process.
func (r *Replica) Start() (err error) {
	r.process, err = r.cluster.StartProcess(r.name, r.program, r.args...)
	return err
}

// Replace has the process end as a Pod's does, and another program take its place.
// It returns when that is ready.
func (r *Replica) Replace(ctx context.Context, program string) error {
	if err := r.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-r.process.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	r.program = program
	if err := r.Start(); err != nil {
		return err
	}
	return r.awaitReady(ctx)
}

// Signal sends the process a signal, such as SIGSTOP to have it hang.
func (r *Replica) Signal(signal syscall.Signal) error { return r.process.Signal(signal) }

// Kill ends the process, if it runs, by SIGKILL and waits for its end.
func (r *Replica) Kill() error {
	if !r.Running() {
		return nil
	}
	if err := r.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-r.process.Done()
	return nil
}

// Running reports whether the process runs.
func (r *Replica) Running() bool {
	if r.process == nil {
		return false
	}
	select {
	case <-r.process.Done():
		return false
	default:
		return true
	}
}

// Log is the path of the process's log.
func (r *Replica) Log() string { return r.cluster.ProcessLog(r.name) }

func (r *Replica) awaitReady(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, readyTimeout, true, func(context.Context) (bool, error) {
		if !r.Running() {
			return false, fmt.Errorf("%s has ended, see %s", r.name, r.Log())
		}
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", r.health))
		if err != nil {
			return false, nil
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		return fmt.Errorf("%s is not ready, see %s: %w", r.name, r.Log(), err)
	}
	return nil
}

// counter sums a counter or a gauge over its labels, of which those given have
// that value.
func (r *Replica) counter(metric string, where map[string]string) (float64, error) {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", r.metrics))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return 0, err
	}
	total := 0.0
	if family := families[metric]; family != nil {
		for _, m := range family.Metric {
			if matches(m, where) {
				total += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return total, nil
}

func matches(m *dto.Metric, where map[string]string) bool {
	found := 0
	for _, label := range m.Label {
		if want, ok := where[label.GetName()]; ok && want != label.GetValue() {
			return false
		} else if ok {
			found++
		}
	}
	return found == len(where)
}
