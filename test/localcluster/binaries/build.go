package binaries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// build is one run of "go build".
type build struct {
	what    string // for errors
	dir     string // of the module
	pkg     string
	ldflags string
	flags   []string
	output  string
}

// ErrNoGo says that something has to be built, and there is nothing to build it with.
var ErrNoGo = errors.New("no go command on the PATH: install Go 1.26 or later, or add its bin directory to the PATH")

// build runs "go build" and moves its result into place.
func (b *Builder) build(ctx context.Context, build build) error {
	command, err := exec.LookPath(b.goCommand)
	if err != nil {
		return fmt.Errorf("cannot build %s: %w", build.what, ErrNoGo)
	}
	// Not in place: an interrupted build must not look like a finished one, and
	// a running program's file cannot be overwritten.
	temporary := fmt.Sprintf("%s.%d.tmp", build.output, os.Getpid())
	defer os.Remove(temporary)
	args := []string{"build", "-mod=readonly", "-buildvcs=false", "-o", temporary, "-ldflags", build.ldflags}
	env := append(os.Environ(), "GOWORK=off")
	// With the race detector: as "go test -race" does it, so that what one has
	// compiled serves the other. Otherwise static, so that programs run in a
	// container whatever the host's C library is.
	if !slices.Contains(build.flags, "-race") {
		args = append(args, "-trimpath")
		env = append(env, "CGO_ENABLED=0")
	}
	cmd := exec.CommandContext(ctx, command, slices.Concat(args, build.flags, []string{build.pkg})...)
	cmd.Dir, cmd.Env = build.dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	// The compilers that it has started hold its output open a little longer.
	cmd.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output

	// The parent-death signal follows the thread that forks.
	runtime.LockOSThread()
	err = cmd.Run()
	runtime.UnlockOSThread()
	if ctx.Err() != nil {
		return fmt.Errorf("building %s was interrupted: %w", build.what, ctx.Err())
	}
	if err != nil {
		return buildError(build, output.Bytes(), err)
	}
	if err := os.Rename(temporary, build.output); err != nil {
		return fmt.Errorf("cannot keep %s: %w", build.what, err)
	}
	return nil
}

// buildError makes one sentence of the compiler's output, and keeps the rest in a file.
func buildError(build build, output []byte, err error) error {
	log := build.output + ".log"
	if writeErr := os.WriteFile(log, output, 0o644); writeErr != nil {
		log = "nowhere: " + writeErr.Error()
	}
	reason := err.Error()
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		// The go command tells about downloads and package names first.
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "go: downloading") {
			continue
		}
		reason = line
		break
	}
	return fmt.Errorf("cannot build %s in %s: %s (the whole output is in %s)", build.what, filepath.Clean(build.dir), reason, log)
}
