// Package manifests tests what is installed into a cluster: the kustomizations
// in manifests/, the Helm chart, the alerts and the dashboard. It is a module of
// its own, so that nobody else needs the libraries of Helm and Prometheus.
//
// Run it with -count=1: Go does not notice that a file outside of the module was
// changed, and would take an old result for a new one.
package manifests
