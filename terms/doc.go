// Package terms is the controller: what Leasewarden writes to the cluster, it
// writes from here, in one leader-elected replica.
//
// It keeps the webhook configurations in step with the policies.
//
// It must never decide who leads, which is the picker's, and never touch a
// Lease that no policy governs.
package terms
