package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/doctor"
)

func TestFindings(t *testing.T) {
	problem := doctor.Finding{Check: "other webhooks", Verdict: doctor.Problem,
		Message: "ValidatingWebhookConfiguration strict intercepts writes of Leases in kube-system and has failurePolicy Fail",
		Advice:  "leave Leases, or these namespaces, out of its rules, or set its failurePolicy to Ignore"}
	fine := doctor.Finding{Check: "crds", Verdict: doctor.OK, Message: "all 4 are served"}
	for name, test := range map[string]struct {
		style    Style
		findings []doctor.Finding
		want     string
	}{
		"what to do is below": {Style{}, []doctor.Finding{fine, problem, {Check: "clock", Verdict: doctor.Unknown, Message: "no\x1b[2J time"}}, `CHECK           VERDICT  FOUND
crds            ok       all 4 are served
other webhooks  problem  ValidatingWebhookConfiguration strict intercepts writes
                         of Leases in kube-system and has failurePolicy Fail
                         > leave Leases, or these namespaces, out of its rules,
                           or set its failurePolicy to Ignore
clock           unknown  no?[2J time

1 problem, 1 unknown.
`},
		"colours": {Style{Color: true}, []doctor.Finding{fine}, "\x1b[1mCHECK  VERDICT  FOUND\x1b[0m\n\x1b[32mcrds   ok       all 4 are served\x1b[0m\n\n\x1b[1mNothing is wrong.\x1b[0m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Findings(&b, test.findings, test.style); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
