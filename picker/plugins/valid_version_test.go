package plugins

import "testing"

func TestValidVersion(t *testing.T) {
	for _, test := range []struct {
		name, binary, emulation, want string
	}{
		{"both are versions", "v1.37.0", "1.36", ""},
		{"no emulation version", "v1.37.0", " ", "emulation version: no version is given"},
		{"an image tag", "latest", "latest", `emulation version: "latest" is not a version such as v1.37.2`},
		{"no binary version", "", "1.36", "binary version: no version is given"},
		{"a digest", "sha256:00", "1.36", `binary version: "sha256:00" is not a version such as v1.37.2`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := versioned("a", test.binary, test.emulation)
			if got := (ValidVersion{}).Filter(stateOf(), &c); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
