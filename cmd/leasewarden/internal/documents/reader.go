package documents

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Reader reads manifests into a Set. The zero Reader is ready to use.
type Reader struct {
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Namespace is given to namespaced objects that have none, as "kubectl
	// apply" would. Default: default.
	Namespace string
}

// Read reads files, and the .yaml, .yml and .json files directly in
// directories. The error joins everything that is wrong with them, each with
// its file and document.
func (r Reader) Read(paths ...string) (*Set, error) {
	set := newSet()
	var errs []error
	for _, path := range paths {
		errs = append(errs, r.readPath(set, path))
	}
	return set, errors.Join(errs...)
}

func (r Reader) readPath(set *Set, path string) error {
	if path == Stdin {
		return r.readStream(set, "standard input", r.Stdin)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return r.readDirectory(set, path)
	}
	return r.readFile(set, path)
}

func (r Reader) readDirectory(set *Set, directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			errs = append(errs, r.readFile(set, filepath.Join(directory, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

func (r Reader) readFile(set *Set, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return r.readStream(set, path, file)
}

func (r Reader) readStream(set *Set, name string, stream io.Reader) error {
	d := &decoder{set: set, namespace: r.Namespace, file: name}
	if d.namespace == "" {
		d.namespace = "default"
	}
	return d.decode(stream)
}
