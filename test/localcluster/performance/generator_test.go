package main

import (
	"context"
	"crypto/x509"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// The generator asks a controller-runtime webhook as an API server does, and
// notices an answer that it does not want.
func TestGenerator(t *testing.T) {
	ctrllog.SetLogger(logr.Discard())
	server := httptest.NewTLSServer(&admission.Webhook{Handler: admission.HandlerFunc(namesThePod)})
	defer server.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	lease := newLease("ns", app, "")
	review, err := reviewOf(lease, "app-0", "uid", identity(app, 0))
	if err != nil {
		t.Fatal(err)
	}
	g := &generator{
		address: server.Listener.Addr().String(), server: "example.com", path: "/", trusted: trusted,
		bodies: [][]byte{review}, connections: 2, allowed: ptr.To(true),
	}
	answers, took, err := g.run(t.Context(), 50*time.Millisecond)
	if err != nil || answers < 2 || took < 50*time.Millisecond {
		t.Errorf("%d answers in %s: %v", answers, took, err)
	}
	g.allowed = ptr.To(false)
	if _, _, err := g.run(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), `"allowed":true`) {
		t.Errorf("an answer that is not wanted: %v", err)
	}
}

// namesThePod allows only what a review of reviewOf has.
func namesThePod(_ context.Context, request admission.Request) admission.Response {
	if request.UserInfo.Extra["authentication.kubernetes.io/pod-name"][0] == "app-0" && request.Resource.Resource == "leases" &&
		strings.Contains(string(request.Object.Raw), identity(app, 0)) && request.Kind.Version == coordinationv1.SchemeGroupVersion.Version {
		return admission.Allowed("")
	}
	return admission.Denied("another review")
}
