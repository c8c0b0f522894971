// Package audit tells from an audit log what happened to Leases, and what would
// have happened under a policy.
//
// It derives the terms of each Lease from the writes (package history), rules
// on every attempt to acquire one as the webhook would have, with what was known
// at that moment (candidates.Replay, webhook.Rule), and follows the course that
// the elections would have taken from there. It holds what it knows of each
// Lease, not the log.
//
// It must not decide anything by itself: a ruling here and a ruling in the
// webhook come from the same code.
package audit
