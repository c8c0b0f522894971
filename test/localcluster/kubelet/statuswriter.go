package kubelet

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// statusRetry is the pause after a status could not be written.
const statusRetry = time.Second

// statusWriter brings the newest status of one pod to the API server, as often
// as it takes, without holding up the pod's worker. After the last status it
// removes the pod.
type statusWriter struct {
	worker *podWorker
	wake   chan struct{}

	mu      sync.Mutex
	wanted  corev1.PodStatus
	last    bool // no more will come: the pod is to be removed
	written corev1.PodStatus
}

func newStatusWriter(w *podWorker) *statusWriter {
	return &statusWriter{worker: w, wake: make(chan struct{}, 1)}
}

// write hands over a status.
func (s *statusWriter) write(status corev1.PodStatus, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == last && equality.Semantic.DeepEqual(s.wanted, status) {
		return
	}
	s.wanted, s.last = *status.DeepCopy(), last
	s.poke()
}

func (s *statusWriter) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *statusWriter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.mu.Lock()
		status, last := s.wanted, s.last
		s.mu.Unlock()
		gone, err := s.deliver(ctx, status, last)
		if gone {
			// Not from here: it waits for this goroutine's end.
			go s.worker.gone()
			<-ctx.Done()
			return
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		s.worker.kubelet.config.Log.Info("cannot write the pod's status, will retry", "pod", s.worker.name.String(), "error", err)
		timer := time.NewTimer(statusRetry)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			s.poke()
		}
	}
}

// deliver writes the status, and removes the pod if it was the last one.
func (s *statusWriter) deliver(ctx context.Context, status corev1.PodStatus, last bool) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	pods := s.worker.kubelet.client.CoreV1().Pods(s.worker.name.Namespace)
	if !equality.Semantic.DeepEqual(s.written, status) {
		patch, err := json.Marshal(map[string]any{
			// Also a precondition: another pod of the same name is not ours.
			"metadata": map[string]any{"uid": s.worker.uid},
			"status":   status,
		})
		if err != nil {
			return false, err
		}
		_, err = pods.Patch(ctx, s.worker.name.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		switch {
		case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
			return last, nil // removed by force; the processes are ended as for any deleted pod
		case err != nil:
			return false, err
		}
		s.written = status
	}
	if !last {
		return false, nil
	}
	err = pods.Delete(ctx, s.worker.name.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      metav1.NewUIDPreconditions(string(s.worker.uid)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return false, err
	}
	return true, nil
}
