// Package binaries builds the programs of a local cluster from their Go modules
// and keeps them in the user's cache directory, by release: the Kubernetes
// components, etcd, and any main package ("image") of a module on this machine.
//
// k8s.io/kubernetes requires its staging modules as v0.0.0, so it cannot be
// built with "go install". For each known release the directory modules holds a
// go.mod that replaces them by the published modules of the same release, and
// its go.sum. To add a release, see the program in addrelease.
package binaries
