// Package auditlog reads Kubernetes audit logs: JSON lines of
// audit.k8s.io/v1, plain or gzipped, one file or many, or standard input.
//
// It reads in one pass and holds a window of events of each file that it is in,
// to put them in the order of time. Lines about other resources are skipped
// before any of their JSON is read. What is broken, too late for its window or
// there twice is counted and named, and never ends the reading.
package auditlog
