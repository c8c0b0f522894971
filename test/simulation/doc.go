// Package simulation plays whole clusters in virtual time: unmodified client-go
// electors in Pods that crash, hang and are upgraded, over an API server in
// memory, with the real webhook, picker, caches and terms controller of
// Leasewarden in two replicas that fare no better.
//
// A seed decides everything that happens, so that a seed that fails does so
// again. What must hold is checked all the while: see watchdog.go and checks.go.
package simulation
