// Package v1alpha1 is the API of Leasewarden: the policies that say how the
// leader of a Lease is chosen, and the objects that say what was chosen.
//
// It holds types, constants and defaults only. It must never import another
// package of this module.
//
// +kubebuilder:object:generate=true
// +groupName=leasewarden.dev
package v1alpha1
