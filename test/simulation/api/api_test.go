package api

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

func lease(holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "lease"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
}

// inBubble runs a test with a link to a server, in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, s *Server, l *Link, c kubernetes.Interface)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(1)
		l := s.NewFrontend().Link("client", authenticationv1.UserInfo{}, 0)
		c, err := kubernetes.NewForConfig(l.Config())
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, l, c)
	})
}

func TestWritesOfAnOldVersionConflict(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *Server, l *Link, c kubernetes.Interface) {
		leases := LeaseClient{l}.Leases("ns")
		first, err := leases.Create(t.Context(), lease("a"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leases.Update(t.Context(), first, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := leases.Update(t.Context(), first, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("an update of an old version: got %v, want a conflict", err)
		}
		for _, precondition := range []string{`{"metadata":{"resourceVersion":"` + first.ResourceVersion + `"}}`, `{"metadata":{"uid":"other"}}`} {
			_, err := c.CoordinationV1().Leases("ns").Patch(t.Context(), "lease", types.MergePatchType, []byte(precondition), metav1.PatchOptions{})
			if !apierrors.IsConflict(err) {
				t.Errorf("a patch with %s: got %v, want a conflict", precondition, err)
			}
		}
	})
}

func TestWatchesTellOfEachChangeInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server, l *Link, c kubernetes.Interface) {
		l.SetWeather(Weather{Latency: time.Millisecond, Delay: 10 * time.Second})
		w, err := c.CoreV1().Pods("ns").Watch(t.Context(), metav1.ListOptions{LabelSelector: "app=x"})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", Labels: map[string]string{"app": "x"}}}
		s.Put(Pods, pod)
		s.Put(Pods, pod)
		pod.Labels = nil // leaves the selection
		s.Put(Pods, pod)
		for _, want := range []string{"ADDED", "MODIFIED", "DELETED"} {
			if e := <-w.ResultChan(); string(e.Type) != want {
				t.Errorf("got %s, want %s", e.Type, want)
			}
		}
	})
}

func TestAnswersAreLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server, l *Link, _ kubernetes.Interface) {
		l.Timeout = 3 * time.Second
		l.SetWeather(Weather{Latency: time.Millisecond, Forget: 1})
		start := time.Now()
		if _, err := (LeaseClient{l}).Leases("ns").Create(t.Context(), lease("a"), metav1.CreateOptions{}); err == nil {
			t.Error("an answer came")
		}
		if took := time.Since(start); took != l.Timeout {
			t.Errorf("the client gave up after %s, want %s", took, l.Timeout)
		}
		if s.Get(Leases, "ns", "lease") == nil {
			t.Error("the write was not applied")
		}
	})
}

func TestPausedClientsGoOnWhenTheyAreResumed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server, l *Link, _ kubernetes.Interface) {
		s.PutLease(lease("a"))
		l.Pause()
		time.AfterFunc(time.Hour, l.Resume)
		start := time.Now()
		if _, err := (LeaseClient{l}).Leases("ns").Get(context.Background(), "lease", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if time.Since(start) < time.Hour {
			t.Error("a paused client was answered")
		}
	})
}
