package plugins

import (
	"math/bits"

	"github.com/leasewarden/leasewarden/picker"
)

// Ordinal is implemented by scores whose Values have an order but are not
// numbers, such as versions. They cannot be a term of a weighted sum.
type Ordinal interface{ IsOrdinal() }

// weightedSum adds up numeric scores, each times its weight. It is exact while
// all of them are integers and the sum fits an int64; else it is a float64. A
// candidate that one term has no score for has none.
type weightedSum struct {
	name  string
	terms []weighted
}

type weighted struct {
	weight int64
	score  picker.Score
}

var _ picker.Score = weightedSum{}

// Name implements picker.Score.
func (w weightedSum) Name() string { return w.name }

// Score implements picker.Score.
func (w weightedSum) Score(s *picker.State, c *picker.Candidate) picker.Value {
	var sum int64
	var rounded float64
	exact := true
	for i := range w.terms {
		value := w.terms[i].score.Score(s, c)
		number, ok := value.Number()
		if !ok {
			return picker.Value{}
		}
		rounded += float64(w.terms[i].weight) * number
		if exact {
			n, isInt := value.Int()
			sum, exact = addProduct(sum, w.terms[i].weight, n)
			exact = exact && isInt
		}
	}
	if exact {
		return picker.Integer(sum)
	}
	return picker.Float(rounded)
}

// addProduct returns sum + a*b, and whether neither step overflowed.
func addProduct(sum, a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > 1<<62 {
		return 0, false
	}
	total := sum + a*b
	overflowed := (total > sum) != (a*b > 0) && a*b != 0
	return total, !overflowed
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
