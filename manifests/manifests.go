// Package manifests holds what is installed into a cluster, for code that has
// to agree with it.
package manifests

import "embed"

// CRDs are the CustomResourceDefinitions, one to a file.
//
//go:embed crds/leasewarden.dev_*.yaml
var CRDs embed.FS
