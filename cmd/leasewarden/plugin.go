package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// Names under which kubectl finds this program: as the plugin "kubectl
// leasewarden", and to complete the arguments of that.
const (
	pluginName     = "kubectl-leasewarden"
	completionName = "kubectl_complete-leasewarden"
)

// beCalled has the command answer to the name that it was called by, the first of
// args.
func beCalled(root *cobra.Command, args []string) {
	if len(args) == 0 {
		return
	}
	switch filepath.Base(args[0]) {
	case pluginName:
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl leasewarden"}
		// kubectl completes for its plugins.
		root.CompletionOptions.HiddenDefaultCmd = true
	case completionName:
		root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, args[1:]...))
	}
}
