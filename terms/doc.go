// Package terms is the controller: what Leasewarden writes to the cluster, it
// writes from here, in one leader-elected replica.
//
// It keeps the webhook configurations in step with the policies, publishes an
// Election for each governed Lease, and does what there is to do about the terms
// of their holders: it orders one to step down and takes that back, evicts its Pod,
// and releases the Lease of a holder that is dead. What to do is a pure function
// of what is known (plan.go), and stands on the Lease, so that any replica can go
// on with it. The Leases are watched in every replica, for the rulings of each.
//
// It must never decide who leads, which is the picker's, and never touch a
// Lease that no policy governs.
package terms
