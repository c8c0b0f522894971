// Package inventory reads from a cluster what the decisions on some Leases
// depend on, and nothing else.
//
// It looks once, as the user whose kubeconfig it is given. It must never write,
// and never go on without something it was refused: a decision on half of the
// facts would be a wrong one.
package inventory
