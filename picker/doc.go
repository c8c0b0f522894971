// Package picker decides which candidate should lead a Lease.
//
// It is built like kube-scheduler: filters remove candidates, scores order the
// rest, and the first score that differs decides. Decide is a pure function of
// its arguments. The webhook, the controller, the command line and the
// simulation all call it, so they cannot disagree about the same state.
//
// The package must never do I/O, read a clock, start a goroutine or keep state
// between two calls: what a decision depends on is an argument.
package picker
