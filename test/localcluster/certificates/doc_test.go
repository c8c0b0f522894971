// Package certificates shows on a real control plane that the API server can
// call Leasewarden whatever happens to certificates. Each of its tests has a
// cluster of its own.
package certificates
