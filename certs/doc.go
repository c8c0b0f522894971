// Package certs keeps the webhook's serving certificate.
//
// Self-managed is the default: a CA in a Secret that all replicas share, and in
// each replica a leaf that lives in memory. Both are renewed before they expire,
// by cert-manager's own library; cert-manager itself need not be installed.
// Files are the other way: somebody else renews them, as cert-manager does, and
// they are followed.
//
// The package must never write a private key anywhere but in that Secret, and
// never serve a leaf whose CA has not had the time to become trusted, as long as
// it has another one to serve.
package certs
