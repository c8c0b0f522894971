package host

import (
	"os"
	"strings"
)

// Load is the machine's load average over the last minute.
func Load() string { return Field("/proc/loadavg", "") }

// Processor is the model of the machine's processors.
func Processor() string { return Field("/proc/cpuinfo", "model name") }

// Field is the value of the first line with that key in a file of /proc, or with
// no key the first word.
func Field(path, key string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for text := range strings.Lines(string(content)) {
		if key == "" {
			return strings.Fields(text)[0]
		}
		if name, value, ok := strings.Cut(text, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
