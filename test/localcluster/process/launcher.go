package process

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed launcher/main.go launcher/spec.go launcher/parent.go launcher/container.go
var launcherSource embed.FS

// LauncherSource is the source of the launcher: a main package that imports
// the standard library alone.
func LauncherSource() fs.FS {
	source, err := fs.Sub(launcherSource, "launcher")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	return source
}

// StandIn writes, into dir, an executable of the given name that runs the
// program with whatever arguments it gets, under this package's guarantee for
// the calling process. It is for libraries that start programs by themselves
// and take only a path. The program's PID is written to the returned pidFile
// at each start.
func StandIn(launcher, dir, name, program string) (path, pidFile string, err error) {
	path, pidFile = filepath.Join(dir, name), filepath.Join(dir, name+".pid")
	if err := os.Symlink(launcher, path); err != nil {
		return "", "", fmt.Errorf("cannot put the launcher in front of %s: %w", name, err)
	}
	raw, err := json.Marshal(wireSpec{Path: program, ParentPID: os.Getpid(), PIDFile: pidFile})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(path+".json", raw, 0o600); err != nil {
		return "", "", fmt.Errorf("cannot put the launcher in front of %s: %w", name, err)
	}
	return path, pidFile, nil
}
