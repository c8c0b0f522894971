package auditlog

import "github.com/go-json-experiment/json/jsontext"

// maxInterned bounds the strings that are remembered, maxInternedLength each
// of them.
const (
	maxInterned       = 4096
	maxInternedLength = 512
)

// interned remembers strings by their JSON, since most of a log's names, verbs
// and fields are the same few.
type interned map[string]string

// get returns the string that a JSON string stands for. Invalid UTF-8 in it is
// replaced.
func (n interned) get(quoted []byte) string {
	if s, ok := n[string(quoted)]; ok {
		return s
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	s := string(text)
	if len(quoted) > maxInternedLength {
		return s
	}
	if len(n) >= maxInterned {
		clear(n)
	}
	n[string(quoted)] = s
	return s
}
