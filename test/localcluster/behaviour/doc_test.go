// Package behaviour shows on a real control plane what Leasewarden promises of
// unmodified components. Each test has a namespace, a Lease and, where it
// needs one, a policy of its own.
package behaviour
