package report

import (
	"bytes"
	"encoding/json"

	"github.com/leasewarden/leasewarden/picker"
)

// Scores are a candidate's scores. In JSON they are an object with the criteria
// as keys, in order; the values are strings, so that no number is rounded, or
// null for "no score".
type Scores []Score

// Score is what one criterion gave.
type Score struct {
	Criterion string
	Value     picker.Value
}

func newScores(criteria []string, v *picker.Verdict) Scores {
	scores := Scores{}
	for i, value := range v.Scores {
		scores = append(scores, Score{Criterion: criteria[i], Value: value})
	}
	return scores
}

// MarshalJSON implements json.Marshaler.
func (s Scores) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, score := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(score.Criterion)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(score.text())
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// text is nil for "no score".
func (s Score) text() *string {
	if s.Value.Compare(picker.Value{}) == 0 {
		return nil
	}
	text := s.Value.String()
	return &text
}
