package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// clusterInterval is how often a cluster that is not ready is asked again.
const clusterInterval = time.Second

// cluster waits for what Leasewarden needs of the cluster before it can start:
// an API server that answers, and the CRDs.
type cluster struct {
	client kubernetes.Interface
	log    logr.Logger

	mu      sync.Mutex
	waiting error
	user    *authenticationv1.UserInfo
}

func newCluster(config *rest.Config, log logr.Logger) (*cluster, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &cluster{client: client, log: log, waiting: errors.New("the API server has not been asked yet")}, nil
}

// ready says what is waited for.
func (c *cluster) ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
}

// wait returns how the API server names us, once the cluster is ready. The
// error is that of ctx.
func (c *cluster) wait(ctx context.Context) (username string, err error) {
	err = wait.PollUntilContextCancel(ctx, clusterInterval, true, func(ctx context.Context) (bool, error) {
		var err error
		username, err = c.attempt(ctx)
		return err == nil, nil
	})
	return username, err
}

func (c *cluster) attempt(ctx context.Context) (username string, err error) {
	username, err = c.username(ctx)
	if err == nil {
		err = c.installed(ctx)
	}
	c.note(err)
	if err != nil {
		return "", err
	}
	return username, nil
}

// note keeps what is waited for, and logs it when it changes.
func (c *cluster) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && (c.waiting == nil || err.Error() != c.waiting.Error()) {
		c.log.Info("Waiting for the cluster", "reason", err.Error())
	}
	c.waiting = err
}

func (c *cluster) username(ctx context.Context) (string, error) {
	review, err := c.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return "", fmt.Errorf("asking the API server who we are: %w", err)
	case review.Status.UserInfo.Username == "":
		return "", errors.New("the API server does not say who we are")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user = &review.Status.UserInfo
	return c.user.Username, nil
}

// who is how the API server knows us, or nil before it has said so.
func (c *cluster) who() *authenticationv1.UserInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.user
}

// crds are the resources that must be served.
var crds = []string{"candidates", "clusterelectionpolicies", "electionpolicies", "elections"}

func (c *cluster) installed(ctx context.Context) error {
	group := v1alpha1.GroupVersion.String()
	resources, err := c.client.Discovery().ServerResourcesForGroupVersion(group)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("asking the API server for %s: %w", group, err)
	}
	var missing []string
	for _, name := range crds {
		if resources == nil || !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == name }) {
			missing = append(missing, name+"."+v1alpha1.GroupVersion.Group)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("these CRDs are not installed: %s; apply manifests/crds", strings.Join(missing, ", "))
	}
	return nil
}
