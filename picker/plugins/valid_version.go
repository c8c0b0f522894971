package plugins

import "github.com/leasewarden/leasewarden/picker"

// ValidVersionName is the name of the filter ValidVersion.
const ValidVersionName = "ValidVersion"

// ValidVersion removes candidates whose emulation version or binary version is
// not a version. Upstream's OldestEmulationVersion passes over them as well
// (validLeaseCandidateForOldestEmulationVersion).
type ValidVersion struct{}

var _ picker.Filter = ValidVersion{}

// Name implements picker.Filter.
func (ValidVersion) Name() string { return ValidVersionName }

// Filter implements picker.Filter.
func (ValidVersion) Filter(s *picker.State, c *picker.Candidate) string {
	if p := c.EmulationVersion.Problem(); p != "" {
		return "emulation version: " + p
	}
	return ValidBinaryVersion{}.Filter(s, c)
}
