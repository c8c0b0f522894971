package main

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// waitForEnd returns what has the moment at which the process ends.
func waitForEnd(pid int) (<-chan time.Time, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	end := make(chan time.Time, 1)
	go func() {
		defer unix.Close(fd)
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				end <- time.Now()
				return
			}
		}
	}()
	return end, nil
}
