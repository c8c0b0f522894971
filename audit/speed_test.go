package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/audit/generator"
)

// best is the least time that f took, of a few times: the others were disturbed.
func best(f func()) time.Duration {
	least := time.Hour
	for range 5 {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

// TestAnAuditIsNotSlowerThanLookingAtTheJSON compares with what the standard
// library takes to check that lines are JSON, which holds on any machine.
func TestAnAuditIsNotSlowerThanLookingAtTheJSON(t *testing.T) {
	for name, test := range map[string]struct {
		others float64
		// most is how many times as long an audit may take: several times what was
		// measured with the race detector, which slows down our code and the
		// standard library's by different factors.
		most float64
	}{
		"all of it is about Leases and Pods":         {0, 12},
		"nine in ten lines are about something else": {0.9, 6},
	} {
		t.Run(name, func(t *testing.T) {
			log := generated(t, generator.Options{Bytes: 2 << 20, Others: test.others})
			audit := best(func() { audited(t, bytes.NewReader(log)) })
			look := best(func() {
				for line := range bytes.Lines(log) {
					if !json.Valid(line) {
						t.Fatal("not JSON")
					}
				}
			})
			t.Logf("%.0f MB/s, %.2f times as long as looking", float64(len(log))/audit.Seconds()/1e6, audit.Seconds()/look.Seconds())
			if audit.Seconds() > test.most*look.Seconds() {
				t.Errorf("an audit takes %v, looking at the lines %v", audit, look)
			}
		})
	}
}

func audited(tb testing.TB, log io.Reader) *Audit {
	tb.Helper()
	a, err := New(context.Background(), Options{Objects: generatedPolicy(), Paths: []string{"-"}, Stdin: log})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := a.Run(); err != nil {
		tb.Fatal(err)
	}
	return a
}

// TestMemoryDoesNotGrowWithTheLog streams logs of two sizes, and compares what
// is held in the end.
func TestMemoryDoesNotGrowWithTheLog(t *testing.T) {
	held := func(size int64) uint64 {
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(generator.Write(w, generator.Options{Bytes: size, Others: 0.5})) }()
		a := audited(t, r)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(a)
		return m.HeapAlloc
	}
	small, large := held(4<<20), held(48<<20)
	if large > small+4<<20 {
		t.Errorf("%d bytes are held after a log of 4 MiB, %d after one of 48 MiB", small, large)
	}
}
