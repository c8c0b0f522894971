// Package manifests tests what is installed into a cluster: the kustomizations
// in manifests/, the Helm chart, the alerts and the dashboard. It is a module of
// its own, so that nobody else needs the libraries of Helm and Prometheus.
package manifests
