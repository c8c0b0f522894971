package candidates

import "strings"

// names are the Lease names that a policy gives: exact ones, and globs in
// which * stands for any run of characters.
type names struct {
	exact []string
	globs []string
}

func parseNames(patterns []string) names {
	var n names
	for _, p := range patterns {
		if strings.Contains(p, "*") {
			n.globs = append(n.globs, p)
		} else {
			n.exact = append(n.exact, p)
		}
	}
	return n
}

// matchesGlob reports whether one of the globs matches name.
func (n names) matchesGlob(name string) bool {
	for _, g := range n.globs {
		if glob(g, name) {
			return true
		}
	}
	return false
}

// glob reports whether the whole of s matches pattern. It takes the leftmost
// place for every part between two stars, which finds a match if there is one
// and never goes back: the time is linear in len(s) per star.
func glob(pattern, s string) bool {
	head, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, head)
	for ok && starred {
		var part string
		part, rest, starred = strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(s, part)
		}
		_, s, ok = strings.Cut(s, part)
	}
	return ok
}
