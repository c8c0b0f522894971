package candidates

import (
	"fmt"
	"regexp"
)

// identityPattern is how a component writes its holder identity, where it is
// not one of the usual forms.
type identityPattern struct {
	whole *regexp.Regexp
	host  int
}

// hostnameGroup is the group of an identityPattern that captures the hostname.
const hostnameGroup = "hostname"

// compilePattern compiles an identityPattern; nil for an empty one.
func compilePattern(expression string) (*identityPattern, error) {
	if expression == "" {
		return nil, nil
	}
	// Compiled on its own first, so that an unbalanced expression cannot reach
	// over the anchors.
	if _, err := regexp.Compile(expression); err != nil {
		return nil, err
	}
	whole, err := regexp.Compile(`^(?:` + expression + `)$`)
	if err != nil {
		return nil, err
	}
	host := whole.SubexpIndex(hostnameGroup)
	if host < 0 {
		return nil, fmt.Errorf("needs a group named %q, as in ^(?P<%s>[^/]+)/leader$", hostnameGroup, hostnameGroup)
	}
	return &identityPattern{whole: whole, host: host}, nil
}

// hostname returns what the pattern captures as hostname, "" if the whole
// identity does not match.
func (p *identityPattern) hostname(identity string) string {
	m := p.whole.FindStringSubmatchIndex(identity)
	if m == nil || m[2*p.host] < 0 {
		return ""
	}
	return identity[m[2*p.host]:m[2*p.host+1]]
}
