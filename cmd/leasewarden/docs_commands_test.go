package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guideCommand is a command that a person is told to type.
type guideCommand struct {
	// at is the file and line.
	at, text string
}

// guideBlock is a fenced block with commands, which are typed one after the
// other in one shell.
type guideBlock struct {
	file, fence string
	commands    []guideCommand
}

// programs are what a command begins with. A block without a language is one of
// commands if a line of it does.
var programs = []string{"leasewarden", "bin/leasewarden", "bin/kubectl-leasewarden", "kubectl", "make", "helm", "go", "ssh", "kustomize", "docker", "cd", "ln", "export"}

// guides are the pages that people read.
func guides(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal("where are the guides?", err)
	}
	return append(pages, "../../README.md", "../../CONTRIBUTING.md")
}

// blocksOf are the blocks of commands of a page: those marked sh, bash or console,
// and those without a language that look like it.
func blocksOf(t *testing.T, file string) []guideBlock {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []guideBlock
	var lines []string
	fence, inside, start := "", false, 0
	for i, line := range strings.Split(string(page), "\n") {
		mark, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && !inside:
			fence, inside, start, lines = mark, true, i+2, nil
		case isFence:
			inside = false
			if b := newGuideBlock(file, fence, start, lines); b != nil {
				blocks = append(blocks, *b)
			}
		case inside:
			lines = append(lines, line)
		}
	}
	return blocks
}

func newGuideBlock(file, fence string, start int, lines []string) *guideBlock {
	b := &guideBlock{file: file, fence: fence}
	switch fence {
	case "sh", "bash", "console":
	case "":
		if !slices.ContainsFunc(lines, beginsWithProgram) {
			return nil
		}
	default:
		return nil
	}
	joined, at := "", 0
	for i, line := range lines {
		text, isCommand := strings.CutPrefix(line, "$ ")
		if fence == "console" && !isCommand {
			continue // what is printed
		}
		text = strings.TrimSpace(withoutComment(text))
		if joined == "" {
			at = start + i
		}
		joined = strings.TrimSpace(joined + " " + strings.TrimSuffix(text, `\`))
		if joined == "" || slices.ContainsFunc([]string{`\`, "|", "&&"}, func(s string) bool { return strings.HasSuffix(text, s) }) {
			continue
		}
		name := strings.TrimPrefix(file, "../../")
		b.commands = append(b.commands, guideCommand{fmt.Sprintf("%s:%d", name, at), joined})
		joined = ""
	}
	return b
}

func beginsWithProgram(line string) bool {
	words := strings.Fields(line)
	return len(words) > 1 && slices.Contains(programs, words[0])
}

// withoutComment leaves out what the shell does.
func withoutComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	text, _, _ := strings.Cut(line, " # ")
	return text
}

func TestGuideBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guide.md")
	page := "text\n```sh\nleasewarden a \\\n  b   # why\n\nkubectl c |\n  leasewarden d\n```\n```\nno command\n```\n```\nmake e\n```\n```console\n$ leasewarden f\nprinted\n```\n```yaml\nkubectl: g\n```\n"
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range blocksOf(t, file) {
		for _, c := range b.commands {
			got = append(got, strings.TrimPrefix(c.at, file)+" "+c.text)
		}
	}
	want := []string{":3 leasewarden a b", ":6 kubectl c | leasewarden d", ":13 make e", ":16 leasewarden f"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
