package plugins

import "github.com/leasewarden/leasewarden/picker"

// OldestBinaryVersionName is the name of the score OldestBinaryVersion.
const OldestBinaryVersionName = "OldestBinaryVersion"

// OldestBinaryVersion prefers the older binary version. It is the second
// criterion of upstream's OldestEmulationVersion (KEP-4355).
type OldestBinaryVersion struct{}

var _ picker.Score = OldestBinaryVersion{}

// Name implements picker.Score.
func (OldestBinaryVersion) Name() string { return OldestBinaryVersionName }

// Score implements picker.Score.
func (OldestBinaryVersion) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return picker.Oldest(c.BinaryVersion)
}

// IsOrdinal implements Ordinal.
func (OldestBinaryVersion) IsOrdinal() {}
