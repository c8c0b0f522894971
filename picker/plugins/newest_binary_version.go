package plugins

import "github.com/leasewarden/leasewarden/picker"

// NewestBinaryVersionName is the name of the score NewestBinaryVersion.
const NewestBinaryVersionName = "NewestBinaryVersion"

// NewestBinaryVersion prefers the newer binary version.
type NewestBinaryVersion struct{}

var _ picker.Score = NewestBinaryVersion{}

// Name implements picker.Score.
func (NewestBinaryVersion) Name() string { return NewestBinaryVersionName }

// Score implements picker.Score.
func (NewestBinaryVersion) Score(_ *picker.State, c *picker.Candidate) picker.Value {
	return picker.Newest(c.BinaryVersion)
}

// IsOrdinal implements Ordinal.
func (NewestBinaryVersion) IsOrdinal() {}
