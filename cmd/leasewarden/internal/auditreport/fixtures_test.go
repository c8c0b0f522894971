package auditreport

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/audit"
	"github.com/leasewarden/leasewarden/candidates"
	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/documents"
)

const testdata = "../../testdata/audit/"

// recorded is the report on the log of a real API server.
func recorded(t *testing.T) *audit.Report {
	t.Helper()
	set, err := documents.Reader{}.Read(testdata + "control-plane-policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := candidates.NewObjectSet()
	for _, o := range set.Objects() {
		objects.Add(o.Object)
	}
	a, err := audit.New(context.Background(), audit.Options{Objects: objects, Paths: []string{testdata + "upgrade-and-crash.log"}, All: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// terms are n terms, each of them a minute long, with a second between two.
func terms(n int, holder string) []audit.Term {
	all := make([]audit.Term, n)
	for i := range all {
		end := at(60*i + 59)
		all[i] = audit.Term{Holder: holder, Identity: holder, Start: at(60 * i), Renewed: end, End: &end, Reason: v1alpha1.TermReleased}
	}
	return all
}

// madeUp is a report on one Lease with these terms.
func madeUp(was, would []audit.Term) *audit.Report {
	l := audit.Lease{Lease: "ns/app", AsItWas: audit.Course{Terms: was, TotalTerms: len(was)}}
	if would != nil {
		l.Policy = "ElectionPolicy ns/p"
		l.UnderPolicy = &audit.Course{Terms: would, TotalTerms: len(would)}
	}
	return &audit.Report{
		Log:    audit.Log{From: start, To: at(60 * max(1, len(was))), Lines: 10, Events: 5},
		Leases: []audit.Lease{l},
	}
}

// hostile is what nobody should call himself.
const hostile = `</span><script>alert("x")</script>` + "\x1b[2J\u202e\u2066\u200f"

func html(t *testing.T, r *audit.Report) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func table(t *testing.T, r *audit.Report, style Style) string {
	t.Helper()
	var b strings.Builder
	if err := Table(&b, r, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
