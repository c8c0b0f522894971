package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
)

// Exit statuses that scripts tell apart. Any other failure is a 1.
const (
	exitFailed      = 1
	exitUnusable    = 2
	exitNoCandidate = 3
)

// exitError is an error with an exit status of its own.
type exitError struct {
	error
	status int
}

func (e exitError) Unwrap() error { return e.error }

// exitStatus is the exit status for the error of a command.
func exitStatus(err error) int {
	var e exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.status
	}
	return exitFailed
}

// unusable marks an input that cannot be used.
func unusable(err error) error { return exitError{err, exitUnusable} }

// undecided names the Leases that nobody may lead.
func undecided(elections []report.Election) error {
	var leases []string
	for i := range elections {
		if elections[i].Undecided() {
			leases = append(leases, elections[i].Lease)
		}
	}
	if len(leases) == 0 {
		return nil
	}
	return exitError{fmt.Errorf("no eligible candidate for %s", strings.Join(leases, ", ")), exitNoCandidate}
}
