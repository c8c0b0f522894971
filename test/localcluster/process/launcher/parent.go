//go:build linux

package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// sysPidfdOpen has the same number on every architecture; package syscall
// predates it.
const sysPidfdOpen = 434

// openParent returns a pidfd of the parent. It fails if that is no longer the
// process that asked for the program: then there is nothing to start.
func openParent(want int) (fd int, err error) {
	r, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(want), 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("cannot watch the parent process %d: %w", want, errno)
	}
	// Checked after the descriptor was opened: from here on it cannot be
	// another process under a reused PID.
	if os.Getppid() != want {
		return 0, fmt.Errorf("the parent process %d has ended", want)
	}
	syscall.CloseOnExec(int(r))
	return int(r), nil
}

// waitParent returns when the process of the pidfd has ended.
func waitParent(fd int) {
	type pollFD struct {
		fd      int32
		events  int16
		revents int16
	}
	const pollIn = 1
	for {
		p := pollFD{fd: int32(fd), events: pollIn}
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, 0, 0, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 || int(n) > 0 {
			return
		}
	}
}
