// Package background keeps a local cluster running after the command that
// started it has ended: a process of its own holds the cluster and describes
// it in a directory, where status, logs and down find it. There is one cluster
// of each name per user.
package background
