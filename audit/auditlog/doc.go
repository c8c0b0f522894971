// Package auditlog reads Kubernetes audit logs: JSON lines of
// audit.k8s.io/v1, plain or gzipped, one file or many, or standard input.
//
// It reads in one pass and holds one line of each file that it is in. Lines
// about other resources are skipped before any of their JSON is read. A line
// that is broken is counted and named, and never ends the reading.
package auditlog
