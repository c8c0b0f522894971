package main

import (
	"os"
	"strings"
)

// load is the machine's load average over the last minute.
func load() string { return firstField("/proc/loadavg", "") }

// processor is the model of the machine's processors.
func processor() string { return firstField("/proc/cpuinfo", "model name") }

// firstField is the value of the first line with that key, or with no key the
// first word.
func firstField(path, key string) string {
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
