package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/leasewarden/leasewarden/test/localcluster/host"
	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// ticksPerSecond is the unit of /proc/PID/stat on Linux, whatever the kernel's
// own tick.
const ticksPerSecond = 100

// processorTime is how long a process has had a processor.
func processorTime(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may have spaces.
	_, after, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has an unknown form", pid)
	}
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime, see proc_pid_stat(5)
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// memory is what a process has in memory now, in MiB.
func memory(pid int) (float64, error) {
	text := host.Field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS")
	kib, err := strconv.Atoi(strings.TrimSuffix(text, " kB"))
	return float64(kib) / 1024, err
}

// onProcessors starts a process that uses that many processors. Empty: all.
func onProcessors(processors string, start func() error) error {
	if processors == "" {
		return start()
	}
	if err := os.Setenv("GOMAXPROCS", processors); err != nil {
		return err
	}
	return errors.Join(start(), os.Unsetenv("GOMAXPROCS"))
}

// startReplicas starts those of the first so many replicas that do not run.
func (b *bench) startReplicas(replicas int, processors string) error {
	for _, r := range b.warden.Replicas[:replicas] {
		if r.Running() {
			continue
		}
		if err := onProcessors(processors, r.Start); err != nil {
			return err
		}
	}
	return nil
}

// leader is the replica that writes.
func (b *bench) leader() *installation.Replica { return b.warden.Replicas[0] }
