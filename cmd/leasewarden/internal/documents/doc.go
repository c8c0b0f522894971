// Package documents reads Kubernetes manifests: files, directories or standard
// input, YAML or JSON, one object or many, as people write them and as
// "kubectl get -o yaml" prints them.
//
// It keeps where each object came from, so that a message can name the file and
// the document. It is strict about the kinds of Leasewarden's own API, lenient
// about fields of others that this version does not know, and leaves out kinds
// that no decision depends on. It must never panic, whatever it reads.
package documents
