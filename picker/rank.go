package picker

import (
	"cmp"
	"slices"
)

// rank puts the verdicts in the order of a Decision.
func rank(verdicts []Verdict, eligible int) {
	order := make([]entry, len(verdicts))
	next := [2]int{0, eligible}
	for i := range verdicts {
		part := 1
		if verdicts[i].Eligible {
			part = 0
		}
		order[next[part]].index = i
		next[part]++
	}
	r := ranking{verdicts}
	r.sortByScore(order[:eligible], 0)
	slices.SortFunc(order[eligible:], r.byName)
	reorder(verdicts, order)
}

// entry stands for the verdict of that index. Verdicts, scores and candidates
// are large and far apart in memory, so a key that decides most comparisons is
// kept beside the index, and only entries are moved.
type entry struct {
	key   uint64
	index int
}

type ranking struct{ verdicts []Verdict }

// sortByScore sorts by the score of that number, then those that are equal in
// it by the next one, and in the end by age and name.
func (r ranking) sortByScore(entries []entry, number int) {
	if len(entries) < 2 {
		return
	}
	if number == len(r.verdicts[entries[0].index].Scores) {
		r.sortByAge(entries)
		return
	}
	exact := true
	for i := range entries {
		key, ok := r.verdicts[entries[i].index].Scores[number].sortKey()
		entries[i].key, exact = key, exact && ok
	}
	compare := byKey
	if !exact {
		compare = func(a, b entry) int { return r.byScore(number, a, b) }
	}
	slices.SortFunc(entries, compare)
	for start := 0; start < len(entries); {
		end := start + 1
		for end < len(entries) && compare(entries[start], entries[end]) == 0 {
			end++
		}
		r.sortByScore(entries[start:end], number+1)
		start = end
	}
}

// sortByAge puts older candidates first, then orders by name.
func (r ranking) sortByAge(entries []entry) {
	for i := range entries {
		age := -r.verdicts[entries[i].index].Candidate.Created.Unix()
		entries[i].key = uint64(age) ^ 1<<63
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.key != b.key {
			return byKey(a, b)
		}
		return r.verdicts[a.index].Candidate.Compare(r.verdicts[b.index].Candidate)
	})
}

// byKey puts the higher key first.
func byKey(a, b entry) int {
	if a.key > b.key {
		return -1
	}
	if a.key < b.key {
		return 1
	}
	return 0
}

// byScore puts the higher score first.
func (r ranking) byScore(number int, a, b entry) int {
	if a.key != b.key {
		return byKey(a, b)
	}
	return compareValues(&r.verdicts[b.index].Scores[number], &r.verdicts[a.index].Scores[number])
}

func (r ranking) byName(a, b entry) int {
	return cmp.Compare(r.verdicts[a.index].Candidate.Name, r.verdicts[b.index].Candidate.Name)
}

// reorder moves the verdicts into the order of the entries. It follows each
// cycle of the permutation, to need no second copy.
func reorder(verdicts []Verdict, order []entry) {
	for start := range order {
		if order[start].index < 0 {
			continue // already moved
		}
		displaced := verdicts[start]
		at := start
		for order[at].index != start {
			from := order[at].index
			verdicts[at], order[at].index = verdicts[from], -1
			at = from
		}
		verdicts[at], order[at].index = displaced, -1
	}
}
