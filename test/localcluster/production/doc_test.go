// Package production tests what running Leasewarden in production takes: that its
// roles grant what it needs and no more, and that it can be upgraded while it is
// in use. Each test has a cluster of its own.
package production
