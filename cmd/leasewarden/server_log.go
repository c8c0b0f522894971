package main

import (
	"context"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	toolscache "k8s.io/client-go/tools/cache"
)

// warnOfPerson says whose writes count as Leasewarden's own, if a person may be
// the same user.
func warnOfPerson(log logr.Logger, username string) {
	if !strings.HasPrefix(username, serviceaccount.ServiceAccountUsernamePrefix) {
		log.Info("This is not a service account: whatever this user writes counts as written by Leasewarden, "+
			"also the annotations of Leases that nobody else may change", "user", username)
	}
}

// withoutMissing keeps out of the log that a CRD is missing. The manager's
// watches are tried again every few seconds; the candidates cache has the same
// ones, and complains now and then.
func withoutMissing(ctx context.Context, r *toolscache.Reflector, err error) {
	if !apierrors.IsNotFound(err) {
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
