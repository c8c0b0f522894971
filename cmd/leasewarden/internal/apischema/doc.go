// Package apischema takes an object of Leasewarden's API as the API server
// would: it refuses unknown fields, fills in the defaults, and checks the
// values against the schema and the rules of the CustomResourceDefinition.
//
// It is what makes a manifest on disk mean the same as one that was applied. It
// must use the definitions that are installed, and never a copy of their rules.
package apischema
