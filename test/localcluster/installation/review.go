package installation

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// reviewTimeout is longer than any ruling takes.
const reviewTimeout = 10 * time.Second

// Review has this replica rule on a write to a Lease, as the API server does:
// at the address of the webhook, and trusting what is registered.
func (r *Replica) Review(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	trusted, err := r.trusted(ctx)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: reviewTimeout}
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request:  request,
	}
	body, err := json.Marshal(&review)
	if err != nil {
		return nil, err
	}
	response, err := client.Post(fmt.Sprintf("https://localhost:%d/validate-lease", r.webhook), "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", r.name, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", r.name, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking %s: %s: %s", r.name, response.Status, answer)
	}
	review = admissionv1.AdmissionReview{}
	if err := json.Unmarshal(answer, &review); err != nil {
		return nil, fmt.Errorf("what %s answers: %w", r.name, err)
	}
	if review.Response == nil {
		return nil, fmt.Errorf("what %s answers has no response: %s", r.name, answer)
	}
	return review.Response, nil
}

// trusted is the certificate authority of the registration.
func (r *Replica) trusted(ctx context.Context) (*x509.CertPool, error) {
	client, err := kubernetes.NewForConfig(r.cluster.Config())
	if err != nil {
		return nil, err
	}
	configuration, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for i := range configuration.Webhooks {
		pool.AppendCertsFromPEM(configuration.Webhooks[i].ClientConfig.CABundle)
	}
	return pool, nil
}
