// Package webhook rules on writes to Leases.
//
// It takes an AdmissionReview, says what the write means for the Lease (a
// transition), asks the picker whether the claimant may have it (a ruling), and
// answers. It also checks policies when they are applied.
//
// It must never write to the cluster, wait for anything but its caches, or let
// a fault of its own refuse a write: what it cannot rule on it answers with an
// HTTP error, so that the failure policy of the webhook configuration decides.
package webhook
