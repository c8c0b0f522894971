package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/utils/clock"
)

const (
	// progressAfter is how long reading may take without a word.
	progressAfter = 2 * time.Second
	progressEvery = 250 * time.Millisecond
	// barWidth is how many characters wide the bar is.
	barWidth = 24
)

// showProgress shows on a terminal how much of it was done, once that takes
// longer: bytes, or so many of a unit. The bar is gone after stop, which may be
// called more than once.
func showProgress(w io.Writer, clock clock.Clock, unit string, progress func() (done, total int64)) (stop func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	started, timer := clock.Now(), clock.NewTimer(progressEvery)
	done, ended := make(chan struct{}), sync.WaitGroup{}
	ended.Go(func() {
		for shown := false; ; {
			select {
			case <-done:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-timer.C():
				timer.Reset(progressEvery)
			}
			if elapsed := clock.Since(started); elapsed >= progressAfter {
				read, total := progress()
				fmt.Fprint(w, "\r\x1b[K"+progressLine(unit, read, total, elapsed))
				shown = true
			}
		}
	})
	return sync.OnceFunc(func() {
		timer.Stop()
		close(done)
		ended.Wait()
	})
}

// progressLine says how much was done of how much, how fast, and how long the
// rest takes. total is 0 if it is not known.
func progressLine(unit string, done, total int64, elapsed time.Duration) string {
	speed := float64(done) / elapsed.Seconds()
	rate := amount(unit, int64(speed)) + "/s"
	if total <= 0 || done > total {
		return fmt.Sprintf("%s, %s", amount(unit, done), rate)
	}
	filled := int(int64(barWidth) * done / total)
	bar := strings.Repeat("#", filled) + strings.Repeat("-", barWidth-filled)
	line := fmt.Sprintf("[%s] %d %% of %s, %s", bar, 100*done/total, amount(unit, total), rate)
	if speed > 0 {
		left := time.Duration(float64(total-done) / speed * float64(time.Second))
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return line
}

// unitBytes is the unit that is written as megabytes or gigabytes.
const unitBytes = "bytes"

func amount(unit string, n int64) string {
	switch {
	case unit != unitBytes:
		return fmt.Sprintf("%d %s", n, unit)
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
