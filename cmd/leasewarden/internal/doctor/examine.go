package doctor

import "context"

// check is one thing that is looked at.
type check struct {
	name  string
	judge func(*snapshot) []Finding
}

// checks are in the order in which one thing depends on another.
var checks = []check{
	{"crds", checkDefinitions},
	{"replicas", checkReplicas},
	{"versions", checkVersions},
	{"leader", checkLeader},
	{"webhook", checkWebhook},
	{"certificates", checkCertificates},
	{"reachable", checkReachable},
	{"registration", checkRegistration},
	{"ruling", checkRuling},
	{"other webhooks", checkOtherWebhooks},
	{"admission policies", checkAdmissionPolicies},
	{"policies", checkPolicies},
	{"elections", checkElections},
	{"leftovers", checkLeftovers},
	{"clock", checkClock},
}

// Examine looks at everything. It calls doing, if it is not nil, with what it is
// about to do. The error is that of ctx: what cannot be read is a finding.
func Examine(ctx context.Context, c *Cluster, doing func(string)) ([]Finding, error) {
	s := c.look(ctx, doing)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return judge(s), nil
}

func judge(s *snapshot) []Finding {
	var all []Finding
	for _, c := range checks {
		for _, f := range c.judge(s) {
			f.Check = c.name
			all = append(all, f)
		}
	}
	return all
}
