package report

import (
	"cmp"
	"strings"
)

// field is a column of a table of strings.
type field struct {
	title string
	// cut shortens a cell to a width; nil: it is never cut. The last column is
	// wrapped instead.
	cut func(text string, width int) string
	// replica says that the cells are names of replicas.
	replica bool
	// least is the width that it keeps for as long as others can still be cut.
	least int
}

// row is one line of a table, or more if its last cell is wrapped.
type row struct {
	how emphasis
	// lease is the name of the Lease that the row is about.
	lease string
	cells []string
}

const (
	// shortest is the least width that anything is cut to.
	shortest = 8
	// textWidth is how much of a line the last column gets before it is wrapped.
	textWidth = 30
)

// rows writes a table that fits the line. Where it does not, the names of
// replicas lose the name of their Lease first; then the widest cells are cut.
func (p *printer) rows(fields []field, all []row) {
	widths := widthsOf(fields, all)
	if p.excess(fields, widths) > 0 {
		for _, r := range all {
			for i, f := range fields {
				if f.replica {
					r.cells[i] = withoutLease(r.cells[i], r.lease)
				}
			}
		}
		widths = widthsOf(fields, all)
	}
	p.fit(fields, widths)
	titles := row{how: bold}
	for _, f := range fields {
		titles.cells = append(titles.cells, f.title)
	}
	p.row(fields, widths, titles)
	for _, r := range all {
		p.row(fields, widths, r)
	}
}

func widthsOf(fields []field, all []row) []int {
	widths := make([]int, len(fields))
	for i, f := range fields {
		widths[i] = width(f.title)
		for _, r := range all {
			widths[i] = max(widths[i], width(r.cells[i]))
		}
	}
	return widths
}

// excess is by how much the table is wider than the line.
func (p *printer) excess(fields []field, widths []int) int {
	excess := len(gap)*(len(widths)-1) - p.Width
	for i, w := range widths {
		if i == len(widths)-1 && fields[i].cut == nil {
			w = min(w, textWidth)
		}
		excess += w
	}
	return excess
}

// fit cuts the widths of columns until the table fits, those first that give
// way first.
func (p *printer) fit(fields []field, widths []int) {
	excess := p.excess(fields, widths)
	for _, least := range []func(f field) int{func(f field) int { return f.least }, func(field) int { return shortest }} {
		for ; excess > 0; excess-- {
			widest := -1
			for i, f := range fields {
				if f.cut != nil && widths[i] > max(least(f), shortest) && (widest < 0 || widths[i] > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
}

func (p *printer) row(fields []field, widths []int, r row) {
	last := len(widths) - 1
	cells := make([]string, last)
	for i := range cells {
		cells[i] = fields[i].fitted(r.cells[i], widths[i])
	}
	indent := joinCells(cells, widths) + gap
	if fields[last].cut != nil {
		p.line(r.how, indent+fields[last].fitted(r.cells[last], widths[last]))
		return
	}
	for _, line := range wrap(cmp.Or(r.cells[last], "-"), max(narrowest, p.Width-width(indent))) {
		p.line(r.how, indent+line)
		indent = strings.Repeat(" ", width(indent))
	}
}

func (f *field) fitted(text string, width int) string {
	text = cmp.Or(text, "-")
	if f.cut == nil {
		return text
	}
	return f.cut(text, width)
}

// replicaField is a column of the names of replicas.
func replicaField(title string) field {
	return field{title: title, cut: cutFront, least: 10, replica: true}
}

// wordField is a column of words.
func wordField(title string) field { return field{title: title, cut: cutBack, least: 10} }

// withoutLease leaves out the name of the Lease that a replica's begins with.
func withoutLease(replica, lease string) string {
	if rest, ok := strings.CutPrefix(replica, lease+"-"); ok && lease != "" && len(rest) > 1 {
		return "…-" + rest
	}
	return replica
}

// cutFront cuts the beginning: names of replicas differ in their ends.
func cutFront(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return "…" + string(runes[len(runes)-width+1:])
}

// cutBack cuts the end.
func cutBack(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}
