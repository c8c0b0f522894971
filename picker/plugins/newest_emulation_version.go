package plugins

import "github.com/leasewarden/leasewarden/picker"

// NewestEmulationVersionName is the name of the score NewestEmulationVersion.
const NewestEmulationVersionName = "NewestEmulationVersion"

// NewestEmulationVersion prefers the newer emulation version.
type NewestEmulationVersion struct{}

var _ picker.Score = NewestEmulationVersion{}

// Name implements picker.Score.
func (NewestEmulationVersion) Name() string { return NewestEmulationVersionName }

// Score implements picker.Score.
func (NewestEmulationVersion) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return picker.Newest(c.EmulationVersion)
}

// IsOrdinal implements Ordinal.
func (NewestEmulationVersion) IsOrdinal() {}
