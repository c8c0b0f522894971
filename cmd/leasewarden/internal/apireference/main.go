// Command apireference prints the reference of Leasewarden's API in Markdown: the
// fields, defaults, limits and rules of the installed CustomResourceDefinitions,
// and what the Go comments say of the values of enumerations.
//
// It must read the definitions that are installed, so that it cannot differ from
// them.
package main

import (
	"fmt"
	"os"
)

func main() {
	page, err := reference("api/v1alpha1")
	if err != nil {
		fmt.Fprintln(os.Stderr, "apireference:", err)
		os.Exit(1)
	}
	fmt.Print(page)
}
