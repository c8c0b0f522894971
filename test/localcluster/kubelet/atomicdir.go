package kubelet

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// dataLink is the link in a volume's directory through which all of its files go.
const dataLink = "..data"

// writeAtomically replaces the files of a directory all at once: each is a link
// through ..data, which is moved from one directory of contents to the next. A
// reader never sees a certificate with another one's key.
func writeAtomically(dir string, files map[string]string) error {
	for name := range files {
		if !filepath.IsLocal(name) || strings.HasPrefix(name, "..") {
			return fmt.Errorf("the path %q leads out of the volume", name)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	link := filepath.Join(dir, dataLink)
	before, _ := os.Readlink(link)
	if before != "" && maps.Equal(files, readFiles(filepath.Join(dir, before))) {
		return nil
	}
	next, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return err
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		file := filepath.Join(next, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	temporary := filepath.Join(dir, "..data_tmp")
	_ = os.Remove(temporary)
	if err := os.Symlink(filepath.Base(next), temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, link); err != nil {
		return err
	}
	if err := linkFiles(dir, files); err != nil {
		return err
	}
	if before != "" {
		return os.RemoveAll(filepath.Join(dir, before))
	}
	return nil
}

// linkFiles makes the visible names, the first element of each path, and
// removes the ones that are no more.
func linkFiles(dir string, files map[string]string) error {
	wanted := map[string]bool{}
	for name := range files {
		first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		wanted[first] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "..") {
			continue
		}
		if wanted[name] {
			delete(wanted, name)
		} else if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for name := range wanted {
		if err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func readFiles(dir string) map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name] = string(content)
		}
		return err
	})
	return files
}
