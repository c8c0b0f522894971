package plugins

import "github.com/leasewarden/leasewarden/picker"

// ValidBinaryVersionName is the name of the filter ValidBinaryVersion.
const ValidBinaryVersionName = "ValidBinaryVersion"

// ValidBinaryVersion removes candidates whose binary version is not a version.
type ValidBinaryVersion struct{}

var _ picker.Filter = ValidBinaryVersion{}

// Name implements picker.Filter.
func (ValidBinaryVersion) Name() string { return ValidBinaryVersionName }

// Filter implements picker.Filter.
func (ValidBinaryVersion) Filter(_ *picker.State, c *picker.Candidate) string {
	if p := c.BinaryVersion.Problem(); p != "" {
		return "binary version: " + p
	}
	return ""
}
