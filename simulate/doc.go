// Package simulate plays a scenario of elections in virtual time: replicas that
// start, stop, crash and are cut off, under one policy or another or under none.
//
// The electors behave as client-go's do (tools/leaderelection), with its
// timings and its jitter; who may acquire is ruled on by the same code as in the
// webhook. One seed gives one run, always the same; many runs tell what is
// likely. Nothing here waits, and nothing reads a clock.
package simulate
