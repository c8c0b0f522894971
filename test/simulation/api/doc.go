// Package api is an API server in memory, for simulations in virtual time.
//
// It keeps objects with resourceVersions, checks preconditions, answers lists,
// watches, patches and applies, and asks admission webhooks as kube-apiserver
// does: by the registered configurations, with their match conditions in CEL,
// their timeouts and their failure policies. Clients reach it over a Link, which
// has a latency and faults; every one of its delays is a function of the seed, the
// Link and how often the Link asked, and not of who else asked meanwhile.
//
// It knows the kinds and the requests that Leasewarden and client-go's electors
// use, and no others.
package api
