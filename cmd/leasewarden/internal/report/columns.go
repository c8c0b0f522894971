package report

import (
	"slices"
	"strings"
	"unicode"
)

// column is one column of the table of candidates.
type column struct {
	// title may take several lines.
	title []string
	cell  func(*Candidate) string
}

// nodeWidth is how long a Node's name may be to be shown with its domain.
const nodeWidth = 20

// facts are the columns before the verdict: who the candidate is. Those that
// would be empty, or say what a criterion says, are left out.
func facts(e *Election) []column {
	all := []struct {
		column
		needed bool
	}{
		{column{[]string{"CANDIDATE"}, func(c *Candidate) string { return c.Name }}, true},
		{column{[]string{"SOURCE"}, func(c *Candidate) string { return string(c.Source) }}, e.any(func(c *Candidate) bool { return c.Source != "Pod" })},
		{column{[]string{"NODE"}, func(c *Candidate) string { return shortNode(c.Node) }}, e.any(func(c *Candidate) bool { return c.Node != "" })},
		{column{[]string{"VERSION"}, func(c *Candidate) string { return c.Version }}, !e.hasCriterion("BinaryVersion") && e.any(func(c *Candidate) bool { return c.Version != "" })},
		{column{[]string{"EMULATES"}, func(c *Candidate) string { return c.EmulationVersion }}, !e.hasCriterion("EmulationVersion") && e.any(func(c *Candidate) bool { return c.EmulationVersion != c.Version })},
	}
	var columns []column
	for _, c := range all {
		if c.needed {
			columns = append(columns, c.column)
		}
	}
	return columns
}

// judgement are the verdict and the scores.
func judgement(e *Election) []column {
	columns := []column{{[]string{"VERDICT"}, e.verdict}}
	for i, criterion := range e.Criteria {
		title := criterionTitle(criterion)
		decided := criterion == e.Criterion
		if decided {
			title[len(title)-1] += "*"
		}
		columns = append(columns, column{title, func(c *Candidate) string {
			if decided && e.isChosen(c) {
				return c.score(i) + "*"
			}
			return c.score(i)
		}})
	}
	return columns
}

func (e *Election) verdict(c *Candidate) string {
	switch {
	case !c.Eligible:
		return "no: " + c.Reason
	case e.isChosen(c):
		return "chosen"
	}
	return "eligible"
}

func (c *Candidate) score(i int) string {
	if i >= len(c.Scores) {
		return ""
	}
	return c.Scores[i].Value.String()
}

// shortNode leaves out the domain that some clouds give their Nodes.
func shortNode(name string) string {
	if len(name) > nodeWidth {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

func (e *Election) isChosen(c *Candidate) bool { return e.Chosen != nil && *e.Chosen == c.Name }

func (e *Election) any(has func(*Candidate) bool) bool {
	return slices.ContainsFunc(e.Candidates, func(c Candidate) bool { return has(&c) })
}

func (e *Election) hasCriterion(suffix string) bool {
	return slices.ContainsFunc(e.Criteria, func(name string) bool { return strings.HasSuffix(name, suffix) })
}

// titleWidth is how wide a title gets before it is broken.
const titleWidth = 9

// criterionTitle breaks the name of a criterion into lines, so that a column is
// about as wide as its scores: OldestEmulationVersion between its words, an
// entry of a Custom strategy such as scores[0].cel before the point.
func criterionTitle(name string) []string {
	if entry, field, ok := strings.Cut(name, "."); ok {
		return []string{entry, "." + field}
	}
	return wrap(strings.ToUpper(spaced(name)), titleWidth)
}

// spaced puts a space before every capital letter but the first.
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
