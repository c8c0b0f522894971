// Package generator writes audit logs of any size, as kube-apiserver would, for
// tests and measurements. The same Options give the same log.
package generator
