package report

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// gap is what separates two columns.
const gap = "  "

// narrowest is the least width that a reason is wrapped to, however little is
// left of the line.
const narrowest = 16

// grid writes the table of candidates. The verdict on one that is not eligible
// takes the place of its scores.
func (p *printer) grid(e *Election) {
	left, right := facts(e), judgement(e)
	all := append(left, right...)
	widths := make([]int, len(all))
	for i, c := range all {
		for _, line := range c.title {
			widths[i] = max(widths[i], utf8.RuneCountInString(line))
		}
		for j := range e.Candidates {
			if candidate := &e.Candidates[j]; i < len(left) || candidate.Eligible {
				widths[i] = max(widths[i], utf8.RuneCountInString(c.cell(candidate)))
			}
		}
	}
	p.titles(all, widths)
	for i := range e.Candidates {
		p.candidate(e, &e.Candidates[i], all, len(left), widths)
	}
}

// titles are aligned at the bottom.
func (p *printer) titles(columns []column, widths []int) {
	height := 0
	for _, c := range columns {
		height = max(height, len(c.title))
	}
	for line := range height {
		cells := make([]string, len(columns))
		for i, c := range columns {
			if n := line - (height - len(c.title)); n >= 0 {
				cells[i] = c.title[n]
			}
		}
		p.line(bold, joinCells(cells, widths))
	}
}

func (p *printer) candidate(e *Election, c *Candidate, columns []column, facts int, widths []int) {
	if c.Eligible {
		how := plain
		if e.isChosen(c) {
			how = green
		}
		p.line(how, joinCells(cellsOf(c, columns), widths))
		return
	}
	indent := joinCells(cellsOf(c, columns[:facts]), widths) + gap
	width := max(narrowest, p.Width-utf8.RuneCountInString(indent))
	for _, line := range wrap(e.verdict(c), width) {
		p.line(faint, indent+line)
		indent = strings.Repeat(" ", utf8.RuneCountInString(indent))
	}
}

func cellsOf(c *Candidate, columns []column) []string {
	cells := make([]string, len(columns))
	for i := range columns {
		cells[i] = cmp.Or(columns[i].cell(c), "-")
	}
	return cells
}

func joinCells(cells []string, widths []int) string {
	padded := make([]string, len(cells))
	for i, cell := range cells {
		padded[i] = pad(cell, widths[i])
	}
	return strings.Join(padded, gap)
}
