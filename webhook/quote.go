package webhook

import (
	"strconv"
	"strings"

	"github.com/leasewarden/leasewarden/candidates"
)

// maxQuoted bounds, in bytes, how much of a foreign string a message repeats.
const maxQuoted = 128

// quote makes a string that somebody else chose fit for a message or a log
// line: a plain name stays as it is, anything else is quoted with everything
// but printable ASCII escaped, and what is too long is cut.
func quote(s string) string {
	cut := len(s) > maxQuoted
	if cut {
		s = s[:maxQuoted]
	}
	if plain(s) {
		if cut {
			return s + "..."
		}
		return s
	}
	q := strconv.QuoteToASCII(s)
	if cut {
		return q + "..."
	}
	return q
}

func plain(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._/:@+*", r))
	}) < 0
}

// phrase makes text that repeats foreign strings, such as a plugin's reason,
// fit for a message: all but printable ASCII is escaped, and what is too long is
// cut. Unlike quote it adds no quotation marks.
func phrase(s string) string {
	const limit = 4 * maxQuoted
	cut := len(s) > limit
	if cut {
		s = s[:limit]
	}
	text := candidates.Escape(s)
	if cut {
		text += "..."
	}
	return text
}
