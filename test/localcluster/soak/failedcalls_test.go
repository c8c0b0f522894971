package main

import (
	"testing"
	"time"
)

func TestFailedCallsAreReadFromTheLog(t *testing.T) {
	const log = `I1201 13:04:05.123456   1 a.go:1] fine
W1201 13:04:05.123456   1 dispatcher.go:205] Failed calling webhook, failing open leases.leasewarden.dev: failed calling webhook "leases.leasewarden.dev": failed to call webhook: Post "https://localhost:1/validate-lease?timeout=1s": context deadline exceeded
W1201 13:04:06.000000   1 dispatcher.go:217] Failed calling webhook, failing closed leases.leasewarden.dev: failed calling webhook "leases.leasewarden.dev": tls: failed to verify certificate: x509: unknown authority
W1201 13:04:07.000000   1 dispatcher.go:217] Failed calling webhook, failing closed other.example.com: no
`
	all := readFailedCalls(log, 2026)
	if len(all) != 2 || !all[0].at.Equal(time.Date(2026, 12, 1, 13, 4, 5, 123456000, time.Local)) {
		t.Fatalf("got %v", all)
	}
	timedOut, others := split(all)
	if len(timedOut) != 1 || len(others) != 1 || timedOut[0].at.After(others[0].at) {
		t.Errorf("timed out: %v, others: %v", timedOut, others)
	}
}
