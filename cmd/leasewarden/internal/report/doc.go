// Package report tells what was decided of a Lease: to people as tables, pages
// and timelines, to programs as JSON or YAML.
//
// It must never decide anything. A table never shows what it was given in a way
// that a terminal could take for a command.
package report
