// Package manifests holds what is installed into a cluster, for code that has
// to agree with it.
package manifests

import "embed"

// CRDs are the CustomResourceDefinitions, as crds/*.yaml.
//
//go:embed crds/*.yaml
var CRDs embed.FS
