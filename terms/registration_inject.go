package terms

import "sigs.k8s.io/controller-runtime/pkg/client"

// injectAnnotation tells cert-manager's cainjector where the CAs are from.
const injectAnnotation = "cert-manager.io/inject-ca-from"

// annotate has the CAs injected, or not any more: two that keep them would undo
// each other's work.
func (r *Registration) annotate(configuration client.Object) {
	annotations := map[string]string{}
	for key, value := range configuration.GetAnnotations() {
		if key != injectAnnotation {
			annotations[key] = value
		}
	}
	if r.InjectCAFrom != "" {
		annotations[injectAnnotation] = r.InjectCAFrom
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	configuration.SetAnnotations(annotations)
}
