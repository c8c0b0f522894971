package background

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gofrs/flock"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/localcluster"
)

// DefaultName is the name of the cluster of a user who has only one.
const DefaultName = "default"

// ErrNotUp says that there is no cluster of this name.
var ErrNotUp = errors.New("the local cluster is not up")

// State is what the holder of a cluster says about it.
type State struct {
	// PID of the process that holds the cluster.
	PID int `json:"pid"`
	// Kubeconfig is the path of a kubeconfig file with all rights.
	Kubeconfig string `json:"kubeconfig"`
	// AuditLog is the path of the API server's audit log, if it writes one.
	AuditLog string `json:"auditLog,omitempty"`
	// Started is when the cluster was ready.
	Started time.Time `json:"started"`
	// Processes of the cluster.
	Processes []localcluster.ProcessStatus `json:"processes"`
	// Error is why the cluster could not be started.
	Error string `json:"error,omitempty"`
}

// directory is where a cluster's holder keeps its files.
type directory string

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func open(name string) (directory, error) {
	if !validName.MatchString(name) || len(name) > 63 {
		return "", fmt.Errorf("%q cannot be the name of a cluster: use lower case letters, digits and dashes", name)
	}
	cache, err := binaries.DefaultDir()
	if err != nil {
		return "", err
	}
	return directory(filepath.Join(cache, "clusters", name)), nil
}

func (d directory) cluster() string { return filepath.Join(string(d), "cluster") }
func (d directory) log() string     { return filepath.Join(string(d), "holder.log") }
func (d directory) state() string   { return filepath.Join(string(d), "state.json") }
func (d directory) program() string { return filepath.Join(string(d), "localcluster") }

// lock is held by the holder as long as it lives, whatever its state file
// says. It is next to the directory, which comes and goes.
func (d directory) lock() *flock.Flock { return flock.New(string(d) + ".lock") }

// held tells whether a holder lives.
func (d directory) held() (bool, error) {
	if err := os.MkdirAll(filepath.Dir(string(d)), 0o700); err != nil {
		return false, err
	}
	lock := d.lock()
	locked, err := lock.TryLock()
	if err != nil {
		return false, err
	}
	if locked {
		_ = lock.Unlock()
	}
	return !locked, nil
}

func (d directory) write(state State) error {
	content, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	// Readers never see half a file.
	temporary := d.state() + ".tmp"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, d.state())
}

func (d directory) read() (State, error) {
	var state State
	content, err := os.ReadFile(d.state())
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(content, &state)
}

// Status returns the state of the named cluster, or ErrNotUp.
func Status(name string) (State, error) {
	d, err := open(name)
	if err != nil {
		return State{}, err
	}
	held, err := d.held()
	if err != nil {
		return State{}, err
	}
	if !held {
		return State{}, ErrNotUp
	}
	state, err := d.read()
	if errors.Is(err, os.ErrNotExist) {
		return State{}, errors.New("the local cluster is just being started or stopped: try again in a few seconds")
	}
	return state, err
}
