package auditreport

import (
	"strings"
	"unicode/utf8"
)

const (
	// shortest is how narrow a column gets that gives way to others.
	shortest = 10
	// maxWord is how many characters of a word are shown: more than a name of
	// Kubernetes has, where a holder identity may have thousands.
	maxWord = 320
)

// fit cuts the cells of columns until lines have at most width characters: those
// of the widest column first. It cannot cut below shortest.
func fit(rows [][]string, width int, cuts map[int]func(string, int) string) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	excess := len(widths) - 1 - width
	for _, w := range widths {
		excess += w
	}
	for ; excess > 0; excess-- {
		widest := -1
		for i := range cuts {
			if widths[i] > shortest && (widest < 0 || widths[i] > widths[widest] || widths[i] == widths[widest] && i < widest) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for i, cut := range cuts {
		for _, row := range rows {
			if i < len(row) {
				row[i] = cut(row[i], widths[i])
			}
		}
	}
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

// cutWord cuts the middle of a word that is too long to be read.
func cutWord(word string) string {
	runes := []rune(word)
	if len(runes) <= maxWord {
		return word
	}
	half := maxWord / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-half+1:])
}

// words are those of a text, in pieces of at most width characters.
func words(text string, width int) []string {
	var all []string
	for _, word := range strings.Fields(text) {
		rest := []rune(cutWord(word))
		for ; len(rest) > width; rest = rest[width:] {
			all = append(all, string(rest[:width]))
		}
		all = append(all, string(rest))
	}
	return all
}
