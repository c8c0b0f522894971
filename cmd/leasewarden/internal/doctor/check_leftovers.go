package doctor

import (
	"fmt"
	"strings"

	"github.com/leasewarden/leasewarden/terms"
)

// shownLeases is how many Leases are named.
const shownLeases = 3

// checkLeftovers looks for what an installation that was removed has left behind.
func checkLeftovers(s *snapshot) []Finding {
	const advice = "leasewarden uninstall says what is left, and with --yes removes it"
	var findings []Finding
	validating, mutating := s.ours()
	if gone := s.deployments.err == nil && len(s.deployments.value.Items) == 0; gone && s.outside() == "" && (validating != nil || mutating != nil) {
		findings = append(findings, problem(advice, "the webhook is registered, and there is no Deployment: what a policy with failurePolicy Fail governs cannot be acquired"))
	}
	if s.leases.err != nil {
		return append(findings, unread("Leases", s.leases.err)...)
	}
	if s.elections.err == nil {
		if left := s.marked(); len(left) > 0 {
			findings = append(findings, warning(advice, "annotations of Leasewarden's are on %s that no policy governs", naming(left)))
		}
	}
	if len(findings) > 0 {
		return findings
	}
	return ok("nothing of an earlier installation is left")
}

// marked are the Leases that have something of ours, and no Election.
func (s *snapshot) marked() []string {
	governed := map[string]bool{}
	for i := range s.elections.value.Items {
		e := &s.elections.value.Items[i]
		governed[e.Namespace+"/"+e.Name] = e.Status.Policy != ""
	}
	var left []string
	for i := range s.leases.value.Items {
		l := &s.leases.value.Items[i]
		name := l.Namespace + "/" + l.Name
		if patch, err := terms.Cleanup(l); (patch != nil || err != nil) && !governed[name] {
			left = append(left, name)
		}
	}
	return left
}

func naming(leases []string) string {
	if len(leases) == 1 {
		return "the Lease " + leases[0]
	}
	text := fmt.Sprintf("%d Leases", len(leases))
	more := ""
	if len(leases) > shownLeases {
		leases, more = leases[:shownLeases], " and more"
	}
	return text + " (" + strings.Join(leases, ", ") + more + ")"
}
