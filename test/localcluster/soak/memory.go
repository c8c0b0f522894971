package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// memoryInterval is how often the memory of the replicas is looked at.
const memoryInterval = 5 * time.Second

// Memory is the resident memory of one replica of Leasewarden, in MiB.
type Memory struct {
	Replica string `json:"replica"`
	Start   int    `json:"start"`
	Most    int    `json:"most"`
	End     int    `json:"end"`
}

// memory follows that of all replicas, also over their restarts.
type memory struct {
	*keeper
	of []Memory
}

// watch looks until ctx ends.
func (m *memory) watch(ctx context.Context) error {
	for i := range replicas {
		m.of = append(m.of, Memory{Replica: replicaName(i)})
	}
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	for {
		for i := range m.of {
			m.look(&m.of[i])
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (m *memory) look(of *Memory) {
	now, err := resident(m.pid(of.Replica))
	if err != nil {
		return // it is down
	}
	if of.Start == 0 {
		of.Start = now
	}
	of.Most, of.End = max(of.Most, now), now
}

// resident is the memory of a process, in MiB.
func resident(pid int) (int, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(content)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d has no memory", pid)
}
