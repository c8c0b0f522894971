package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

func TestClusterWaits(t *testing.T) {
	g := NewWithT(t)
	client := fake.NewClientset()
	var up atomic.Bool
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !up.Load() {
			return true, nil, errors.New("connection refused")
		}
		return true, &authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{
			UserInfo: authenticationv1.UserInfo{Username: "us"},
		}}, nil
	})
	var lines atomic.Int32
	c := &cluster{client: client, log: funcr.New(func(string, string) { lines.Add(1) }, funcr.Options{}), waiting: errors.New("not asked")}

	ctx := t.Context()
	g.Expect(c.attempt(ctx)).Error().To(MatchError(ContainSubstring("connection refused")))
	g.Expect(c.attempt(ctx)).Error().To(HaveOccurred())
	g.Expect(c.ready()).To(MatchError(ContainSubstring("connection refused")))
	g.Expect(lines.Load()).To(BeEquivalentTo(1), "the same reason is logged once")

	up.Store(true)
	g.Expect(c.attempt(ctx)).Error().To(MatchError(And(ContainSubstring("candidates.leasewarden.dev"), ContainSubstring("apply manifests/crds"))))
	g.Expect(lines.Load()).To(BeEquivalentTo(2))

	resources := &metav1.APIResourceList{GroupVersion: v1alpha1.GroupVersion.String()}
	for _, name := range crds[1:] {
		resources.APIResources = append(resources.APIResources, metav1.APIResource{Name: name})
	}
	client.Discovery().(*fakediscovery.FakeDiscovery).Resources = []*metav1.APIResourceList{resources}
	g.Expect(c.attempt(ctx)).Error().To(MatchError("these CRDs are not installed: candidates.leasewarden.dev; apply manifests/crds"))

	resources.APIResources = append(resources.APIResources, metav1.APIResource{Name: crds[0]})
	username, err := c.wait(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(username).To(Equal("us"))
	g.Expect(c.ready()).To(Succeed())
}

func TestClusterStopsWaiting(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&cluster{client: client}).wait(ctx); err == nil {
		t.Error("want the error of the context")
	}
}
