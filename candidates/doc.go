// Package candidates knows who could lead each governed Lease.
//
// It resolves which policy governs a Lease, gathers the candidates from Pods,
// LeaseCandidates, Candidates and acquire attempts, recognises a holder
// identity as one of them, and hands the picker the state to decide on. What
// it gathers from may be a cluster or files.
//
// It must never decide who leads, and never write in the path of a request.
package candidates
