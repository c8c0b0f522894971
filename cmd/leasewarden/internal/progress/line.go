package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/utils/clock"
)

// remindEvery is how often a line that is not on a terminal is repeated.
const remindEvery = 10 * time.Second

// Line is one line that says what is waited for. On a terminal it is rewritten
// in place; elsewhere a new one is written when the text changes, and every 10 s.
type Line struct {
	out     io.Writer
	clock   clock.PassiveClock
	started time.Time
	// width is the terminal's. 0: it is none.
	width int
	// text is what was shown last, at when.
	text string
	at   time.Time
}

// New makes a Line whose time begins now.
func New(out io.Writer, clock clock.PassiveClock) *Line {
	l := &Line{out: out, clock: clock, started: clock.Now()}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		l.width = 80
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			l.width = width
		}
	}
	return l
}

// Show says what is waited for now.
func (l *Line) Show(text string) {
	now := l.clock.Now()
	elapsed := now.Sub(l.started).Truncate(time.Second)
	if l.width > 0 {
		fmt.Fprint(l.out, "\r\x1b[K"+clip(printable(fmt.Sprintf("%4s  %s", elapsed, text)), l.width-1))
	} else if text != l.text || now.Sub(l.at) >= remindEvery {
		fmt.Fprintln(l.out, printable(fmt.Sprintf("%4s  %s", elapsed, text)))
		l.at = now
	}
	l.text = text
}

// Done takes the line away from a terminal. It may be called more than once.
func (l *Line) Done() {
	if l.width > 0 && l.text != "" {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
	l.text = ""
}

// printable shows what a terminal could take for a command as a question mark.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}
