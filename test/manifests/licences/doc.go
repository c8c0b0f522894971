// Package licences tests that THIRD_PARTY_LICENSES.md lists the modules that are
// linked into the binary, and that all of them have licences which are permitted.
// To write the list anew:
//
//	go -C test/manifests test ./licences -update
package licences
