//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// spec is what the launcher is asked to start. Its fields are those of
// process.Spec; the two meet only as JSON, since the launcher is built from
// its source alone.
type spec struct {
	Path      string     `json:"path"`
	Args      []string   `json:"args"`
	Env       []string   `json:"env"`
	Dir       string     `json:"dir"`
	ParentPID int        `json:"parentPID"`
	PIDFile   string     `json:"pidFile"`
	Container *container `json:"container"`
}

// container is where the program runs when not simply on the host.
type container struct {
	Hostname      string  `json:"hostname"`
	Root          string  `json:"root"`
	Mounts        []mount `json:"mounts"`
	UserNamespace bool    `json:"userNamespace"`
}

type mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"readOnly"`
	// Optional: skip the mount if there is no such source.
	Optional bool `json:"optional"`
}

func parseSpec(raw []byte) (*spec, error) {
	s := &spec{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("the spec is no JSON: %w", err)
	}
	return s, nil
}

// argv0 names the program in listings of processes.
func (s *spec) argv0() string { return filepath.Base(s.Path) }
