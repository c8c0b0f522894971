package licences

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

var update = flag.Bool("update", false, "write THIRD_PARTY_LICENSES.md anew")

// repository is the root of the checkout.
var repository = filepath.Join("..", "..", "..")

// permitted are the licences, by their SPDX identifiers, that may be linked into
// a binary under the Apache License 2.0.
var permitted = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "BSD-2-Clause-FreeBSD"}

// platforms are those that the binary is built for.
var platforms = []string{"linux/amd64", "linux/arm64"}

// module is one that the binary has code of.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// linked are the modules of the packages of cmd/leasewarden, by their paths.
func linked(t *testing.T) []*module {
	t.Helper()
	found := map[string]*module{}
	for _, platform := range platforms {
		system, processor, _ := strings.Cut(platform, "/")
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Module", "./cmd/leasewarden")
		list.Dir, list.Env = repository, append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if m := p.Module; m != nil && !m.Main { // or else it is ours, or Go's
				found[m.Path] = m
			}
		}
	}
	var all []*module
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[path])
	}
	return all
}

// licenceFile is what the files are called that a licence is in.
var licenceFile = regexp.MustCompile(`^(?i:licen[cs]e|copying)(?i:[-_.].*)?$`)

// minPercent is how much of a file has to be the text of licences, so that
// nothing of weight stands beside them.
const minPercent = 75

// licences are those in the files of a directory, as SPDX identifiers.
func licences(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		coverage := licensecheck.Scan(text)
		if coverage.Percent < minPercent {
			return nil, fmt.Errorf("%s is a known licence to %.0f %% only", e.Name(), coverage.Percent)
		}
		for _, match := range coverage.Match {
			found = append(found, match.ID)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no file with a licence was found")
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

const head = `# Third-party licences

The modules that are linked into the binary, for linux/amd64 and linux/arm64, with
the licences that are in their files. The texts are in the modules: ` + "`go list -m\n-f '{{.Dir}}' MODULE`" + ` says where.

A test keeps this list current, and lets no other licence in:
` + "`go -C test/manifests test ./licences -update`" + ` writes it anew.

| module | version | licence |
|---|---|---|
`

func TestLicences(t *testing.T) {
	var list strings.Builder
	list.WriteString(head)
	for _, m := range linked(t) {
		source := m
		if m.Replace != nil {
			source = m.Replace
		}
		found, err := licences(source.Dir)
		if err != nil {
			t.Errorf("%s: %v", m.Path, err)
		}
		for _, id := range found {
			if !slices.Contains(permitted, id) {
				t.Errorf("%s is licensed under %s, which is not permitted: %q are", m.Path, id, permitted)
			}
		}
		fmt.Fprintf(&list, "| %s | %s | %s |\n", m.Path, source.Version, strings.Join(found, ", "))
	}
	path := filepath.Join(repository, "THIRD_PARTY_LICENSES.md")
	if *update {
		if err := os.WriteFile(path, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != list.String() {
		t.Errorf("%s is not what is linked: go -C test/manifests test ./licences -update", path)
	}
}

// What is not permitted, not known, or has more in it than a licence, is found.
func TestLicencesAreTold(t *testing.T) {
	own, err := os.ReadFile(filepath.Join(repository, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	const gpl = "This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by\n" +
		"the Free Software Foundation, either version 3 of the License, or (at your option) any later version.\n"
	for name, tc := range map[string]struct {
		file, text string
		want       string
		problem    string
	}{
		"Apache":        {file: "LICENSE.txt", text: string(own), want: "Apache-2.0"},
		"not permitted": {file: "COPYING", text: gpl, want: "GPL-3.0-or-later"},
		"more in it":    {file: "LICENCE", text: string(own) + strings.Repeat("Nobody may use this on a Monday, or in a village. ", 300), problem: "only"},
		"none":          {file: "licenser.go", text: string(own), problem: "no file with a licence"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tc.file), []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			found, err := licences(dir)
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("got %q, %v", found, err)
				}
			} else if strings.Join(found, " ") != tc.want {
				t.Errorf("got %q, %v, want %s", found, err, tc.want)
			}
		})
	}
}
