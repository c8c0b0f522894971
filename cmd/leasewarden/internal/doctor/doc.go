// Package doctor examines an installation of Leasewarden and says in words what
// is wrong with it.
//
// It reads everything that it needs first, and then judges what it read: a check
// is a function of a snapshot, so that what one may not read is an unknown and
// never a failure. It must never change anything: what it writes is a dry run.
package doctor
