package plugins

import "testing"

func TestValidBinaryVersion(t *testing.T) {
	for binary, want := range map[string]string{
		"v1.37.0":     "",
		"release-1.9": `binary version: "release-1.9" is not a version such as v1.37.2`,
	} {
		c := versioned("a", binary, "not a version")
		if got := (ValidBinaryVersion{}).Filter(stateOf(), &c); got != want {
			t.Errorf("%s: got %q, want %q", binary, got, want)
		}
	}
}
