package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/leasewarden/leasewarden/cmd/leasewarden/internal/report"
)

// pickOutput is the value of -o.
type pickOutput string

const (
	pickTable pickOutput = "table"
	pickJSON  pickOutput = "json"
	pickYAML  pickOutput = "yaml"
)

var pickOutputs = []string{string(pickTable), string(pickJSON), string(pickYAML)}

// Set implements pflag.Value.
func (o *pickOutput) Set(value string) error {
	if !slices.Contains(pickOutputs, value) {
		return fmt.Errorf("must be one of %s", strings.Join(pickOutputs, ", "))
	}
	*o = pickOutput(value)
	return nil
}

// String implements pflag.Value.
func (o *pickOutput) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *pickOutput) Type() string { return "format" }

func (o pickOutput) write(w io.Writer, elections []report.Election) error {
	switch o {
	case pickJSON:
		return report.JSON(w, elections)
	case pickYAML:
		return report.YAML(w, elections)
	}
	return report.Table(w, elections, styleFor(w))
}

// styleFor fits the terminal, if w is one. NO_COLOR is no-color.org's.
func styleFor(w io.Writer) report.Style {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return report.Style{}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return report.Style{Width: width, Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}
