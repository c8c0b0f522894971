// Package plugins has the filters and scores that policies choose from, the
// strategies that are made of them, and Compile, which turns the text of a
// policy into a picker.Policy.
//
// A plugin is one file with its test and one line in registry.go;
// docs/adding-a-plugin.md shows how. Plugins are pure functions of the state
// they are given, like the picker: they must never do I/O, read a clock, start
// a goroutine or remember something between two calls.
package plugins
