package plugins

import "github.com/leasewarden/leasewarden/picker"

// OldestEmulationVersionName is the name of the score OldestEmulationVersion.
const OldestEmulationVersionName = "OldestEmulationVersion"

// OldestEmulationVersion prefers the older emulation version. It is the first
// criterion of upstream's strategy of that name (KEP-4355).
type OldestEmulationVersion struct{}

var _ picker.Score = OldestEmulationVersion{}

// Name implements picker.Score.
func (OldestEmulationVersion) Name() string { return OldestEmulationVersionName }

// Score implements picker.Score.
func (OldestEmulationVersion) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return picker.Oldest(c.EmulationVersion)
}

// IsOrdinal implements Ordinal.
func (OldestEmulationVersion) IsOrdinal() {}
