package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// Builder builds programs and finds the ones built before. It may be used from
// several goroutines and processes at once: whoever comes second waits.
type Builder struct {
	dir string
	out io.Writer
	// goCommand is looked up in PATH; replaced in tests.
	goCommand string
	// interval between two progress lines where they cannot be updated in place.
	interval time.Duration
}

// New returns a builder that keeps what it builds in dir, and reports its
// progress to out. An empty dir means DefaultDir(); a nil out, no reports.
func New(dir string, out io.Writer) (*Builder, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultDir(); err != nil {
			return nil, err
		}
	}
	if out == nil {
		out = io.Discard
	}
	return &Builder{dir: dir, out: out, goCommand: "go", interval: 15 * time.Second}, nil
}

// DefaultDir is the directory in the user's cache directory that built
// programs are kept in.
func DefaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place to keep built programs: set HOME or XDG_CACHE_HOME: %w", err)
	}
	return filepath.Join(cache, "leasewarden", "localcluster"), nil
}

// Components returns the paths of the components, in their order, and builds
// the ones that are missing: minutes each for the first of a release, seconds
// for the others, nothing when they are there.
func (b *Builder) Components(ctx context.Context, components ...Component) ([]string, error) {
	paths := make([]string, len(components))
	var missing []int
	for i, c := range components {
		dir, err := c.directory()
		if err != nil {
			return nil, err
		}
		paths[i] = filepath.Join(b.dir, "bin", dir, c.Name)
		if _, err := os.Stat(paths[i]); err != nil {
			missing = append(missing, i)
		}
	}
	for n, i := range missing {
		what := components[i].String()
		if len(missing) > 1 {
			what = fmt.Sprintf("%s (%d of %d)", what, n+1, len(missing))
		}
		if err := b.component(ctx, components[i], paths[i], what); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func (b *Builder) component(ctx context.Context, c Component, path, what string) error {
	mod, sum, err := c.module()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot keep %s: %w", c, err)
	}
	progress := newProgress(b.out, b.interval, "building "+what)
	defer progress.stop()
	// One lock per directory: two builds of one release would do the same work.
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(path), ".lock"))
	if err != nil {
		return fmt.Errorf("cannot build %s: %w", c, err)
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return nil // built by another process meanwhile
	}
	module := filepath.Join(filepath.Dir(path), "module")
	if err := os.MkdirAll(module, 0o755); err != nil {
		return fmt.Errorf("cannot build %s: %w", c, err)
	}
	for name, content := range map[string][]byte{"go.mod": mod, "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(module, name), content, 0o644); err != nil {
			return fmt.Errorf("cannot build %s: %w", c, err)
		}
	}
	return b.build(ctx, build{what: c.String(), dir: module, pkg: c.pkg(), ldflags: c.linkerFlags(), output: path})
}

// Package builds a main package of the module in dir, such as "./cmd/leasewarden",
// and returns the path of the program. It always asks the go command, which
// rebuilds only what changed. flags are more flags of "go build", such as "-race".
func (b *Builder) Package(ctx context.Context, dir, pkg string, flags ...string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", dir, pkg, flags))
	name := filepath.Base(pkg)
	if name == "." || name == "/" {
		name = filepath.Base(dir)
	}
	path := filepath.Join(b.dir, "images", hex.EncodeToString(hash[:])[:12], name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("cannot keep %s: %w", name, err)
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w", name, err)
	}
	defer unlock()
	progress := newProgress(b.out, b.interval, "building "+name)
	defer progress.stop()
	return path, b.build(ctx, build{what: name, dir: dir, pkg: pkg, flags: flags, output: path})
}

// Source builds a main package that imports only the standard library from its
// source, unless that was done before, and returns the path of the program.
func (b *Builder) Source(ctx context.Context, name string, source fs.FS) (string, error) {
	files, err := fs.Glob(source, "*.go")
	if err != nil {
		return "", err
	}
	mod := fmt.Appendf(nil, "module %s\n\ngo 1.26\n", name)
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s/%s\n", mod, runtime.GOOS, runtime.GOARCH)
	contents := map[string][]byte{"go.mod": mod}
	for _, file := range files {
		content, err := fs.ReadFile(source, file)
		if err != nil {
			return "", err
		}
		contents[file] = content
		fmt.Fprintf(hash, "%s %d:%s", file, len(content), content)
	}
	path := filepath.Join(b.dir, "bin", name+"-"+hex.EncodeToString(hash.Sum(nil))[:12], name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	module := filepath.Join(filepath.Dir(path), "module")
	if err := os.MkdirAll(module, 0o755); err != nil {
		return "", fmt.Errorf("cannot keep %s: %w", name, err)
	}
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(path), ".lock"))
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w", name, err)
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	for file, content := range contents {
		if err := os.WriteFile(filepath.Join(module, file), content, 0o644); err != nil {
			return "", fmt.Errorf("cannot build %s: %w", name, err)
		}
	}
	return path, b.build(ctx, build{what: name, dir: module, pkg: ".", ldflags: "-s -w", output: path})
}

// lock takes the lock file, waiting for another process if need be.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path)
	if _, err := l.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, fmt.Errorf("waiting for another build (lock %s): %w", path, err)
	}
	return func() { _ = l.Unlock() }, nil
}
