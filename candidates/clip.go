package candidates

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxIdentityBytes is the length of the longest holder identity that is kept as
// it is, and that a Candidate's spec.identity can have. client-go's are a hostname and a UUID, of up to 290 bytes; the API
// server takes any length.
const MaxIdentityBytes = 512

// Clip cuts s to at most limit bytes, between characters, and says so.
func Clip(s string, limit int) string {
	const mark = "..."
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= limit {
		return s
	}
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

// ClipIdentity is a holder identity as it is recorded and shown: that itself, or
// of a very long one the beginning and a digest, so that two of them are never
// taken for one.
func ClipIdentity(identity string) string {
	if len(identity) <= MaxIdentityBytes {
		return Clip(identity, MaxIdentityBytes)
	}
	sum := sha256.Sum256([]byte(identity))
	digest := hex.EncodeToString(sum[:8])
	return Clip(identity, MaxIdentityBytes-len(digest)) + digest
}

// Escape has everything but printable ASCII in s escaped, as in a string of Go,
// without quotation marks: text that somebody else wrote must not end a line,
// steer a terminal, or pass for something else.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if ' ' <= r && r <= '~' {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
