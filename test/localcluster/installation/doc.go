// Package installation installs Leasewarden on a local cluster, as people do
// on theirs: from the manifests of the repository, with the rights that they
// grant and no others. Its replicas are processes outside the cluster.
package installation
