package candidates

import (
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

func TestClip(t *testing.T) {
	g := NewWithT(t)
	for in, want := range map[string]string{
		"": "", "12345678": "12345678", "123456789": "12345...", "\xff": "?", "äöüäö": "äö...", "1234ü6789": "1234...",
	} {
		g.Expect(Clip(in, 8)).To(Equal(want), in)
	}
}

func TestClipIdentity(t *testing.T) {
	g := NewWithT(t)
	usual := "web-1_5b6ae0b7-9b7e-4f0b-8d2b-0d1a7cf2f6b6"
	g.Expect(ClipIdentity(usual)).To(Equal(usual))
	g.Expect(ClipIdentity(strings.Repeat("x", MaxIdentityBytes))).To(HaveLen(MaxIdentityBytes))
	a, b := ClipIdentity("web-1_"+strings.Repeat("x", 1<<20)), ClipIdentity("web-1_"+strings.Repeat("x", 1<<20+1))
	g.Expect(len(a)).To(Equal(MaxIdentityBytes))
	g.Expect(a).To(HavePrefix("web-1_xxx"))
	g.Expect(a).NotTo(Equal(b), "they are two")
	for _, odd := range []string{strings.Repeat("\xff", MaxIdentityBytes), strings.Repeat("ä", 1000)} {
		g.Expect(utf8.ValidString(ClipIdentity(odd))).To(BeTrue())
		g.Expect(len(ClipIdentity(odd))).To(BeNumerically("<=", MaxIdentityBytes))
	}
	g.Expect(ClipIdentity(ClipIdentity(strings.Repeat("y", 1000)))).To(Equal(ClipIdentity(strings.Repeat("y", 1000))))
}

func TestEscape(t *testing.T) {
	g := NewWithT(t)
	for in, want := range map[string]string{
		"web-1 'leads' \"by\" \\": "web-1 'leads' \"by\" \\",
		"a\n\x1b[2J\u202eb":       `a\n\x1b[2J\u202eb`,
		"é\xff\U0001f600":         `\u00e9\ufffd\U0001f600`,
	} {
		g.Expect(Escape(in)).To(Equal(want))
	}
}
