package behaviour

import (
	"iter"
	"os"
	"strings"
)

// refusal is in every line of an elector's log that tells of one.
const refusal = "denied the request"

// linesWith returns the lines of a file that contain text.
func linesWith(path, text string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return only(strings.Lines(string(content)), text)
}

// only returns the lines that contain text.
func only(lines iter.Seq[string], text string) string {
	found := &strings.Builder{}
	for line := range lines {
		if strings.Contains(line, text) {
			found.WriteString(line)
		}
	}
	return found.String()
}
