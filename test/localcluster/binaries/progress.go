package binaries

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress reports that something takes a while: what, and for how long.
type progress struct {
	out      io.Writer
	what     string
	started  time.Time
	terminal bool
	spoke    bool
	quit     chan struct{}
	finished sync.WaitGroup
}

// newProgress starts reporting. On a terminal there is one line, updated in
// place each second; elsewhere a line at each interval, none for what is quick.
func newProgress(out io.Writer, interval time.Duration, what string) *progress {
	p := &progress{out: out, what: what, started: time.Now(), quit: make(chan struct{})}
	if file, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(file.Fd()))
	}
	if p.terminal {
		interval = time.Second
	}
	p.finished.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-ticker.C:
				p.line(" ...")
			}
		}
	})
	return p
}

func (p *progress) line(suffix string) {
	elapsed := time.Since(p.started).Round(time.Second)
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s, %s%s", p.what, elapsed, suffix)
	} else {
		fmt.Fprintf(p.out, "%s, %s%s\n", p.what, elapsed, suffix)
	}
	p.spoke = true
}

// stop ends the reports, with a last one if there were any.
func (p *progress) stop() {
	close(p.quit)
	p.finished.Wait()
	if !p.spoke {
		return
	}
	p.line("")
	if p.terminal {
		fmt.Fprintln(p.out)
	}
}
