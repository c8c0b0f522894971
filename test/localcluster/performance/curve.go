package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// curve is how a figure grows.
type curve struct {
	Title string `json:"title"`
	// X and Y are what the axes show.
	X string `json:"x"`
	Y string `json:"y"`
	// Logarithmic is the axis of X.
	Logarithmic bool `json:"logarithmic,omitempty"`
	// Limit is what Y is not to exceed. 0: there is no limit.
	Limit  float64 `json:"limit,omitempty"`
	Points []point `json:"points"`
}

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Sizes of the drawing, in pixels.
const (
	panelWidth, panelHeight = 420, 260
	marginLeft, marginRight = 56, 20
	marginTop, marginBottom = 36, 46
	plotWidth               = panelWidth - marginLeft - marginRight
	plotHeight              = panelHeight - marginTop - marginBottom
)

// asSVG draws all curves, two beside each other. It needs no style sheet and no
// script, and is read on a light and on a dark page.
func (r *report) asSVG(out io.Writer) error {
	rows := (len(r.Curves) + 1) / 2
	var text strings.Builder
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		2*panelWidth, max(rows, 1)*panelHeight)
	fmt.Fprintln(&text, `<rect width="100%" height="100%" fill="#ffffff"/>`)
	for i, c := range r.Curves {
		fmt.Fprintf(&text, `<g transform="translate(%d %d)">`+"\n", i%2*panelWidth, i/2*panelHeight)
		c.draw(&text)
		fmt.Fprintln(&text, "</g>")
	}
	fmt.Fprintln(&text, "</svg>")
	_, err := io.WriteString(out, text.String())
	return err
}

// draw draws one panel at the origin.
func (c *curve) draw(w io.Writer) {
	top := c.Limit
	for _, p := range c.Points {
		top = max(top, p.Y)
	}
	step := tick(top * 1.1)
	top = step * math.Ceil(top*1.1/step)
	y := func(v float64) float64 { return marginTop + plotHeight*(1-v/top) }
	fmt.Fprintf(w, `<text x="%d" y="18" font-size="13" font-weight="bold" fill="#222222">%s, %s</text>`+"\n", marginLeft, c.Title, c.Y)
	for v := 0.0; v <= top*1.001; v += step {
		fmt.Fprintf(w, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#dddddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555555">%.4g</text>`+"\n",
			marginLeft, panelWidth-marginRight, y(v), y(v), marginLeft-6, y(v)+4, v)
	}
	if c.Limit > 0 {
		fmt.Fprintf(w, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#b3261e" stroke-dasharray="5 4"/><text x="%d" y="%.1f" text-anchor="end" fill="#b3261e">to reach: ≤ %.4g</text>`+"\n",
			marginLeft, panelWidth-marginRight, y(c.Limit), y(c.Limit), panelWidth-marginRight, y(c.Limit)-5, c.Limit)
	}
	var path []string
	for _, p := range c.Points {
		x := c.x(p.X)
		path = append(path, fmt.Sprintf("%.1f,%.1f", x, y(p.Y)))
		fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="#1a5fb4"/><text x="%.1f" y="%.1f" text-anchor="middle" fill="#1a5fb4">%s</text>`+"\n",
			x, y(p.Y), x, y(p.Y)-9, number(p.Y))
		fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555555">%.0f</text>`+"\n", x, panelHeight-marginBottom+16, p.X)
	}
	fmt.Fprintf(w, `<polyline points="%s" fill="none" stroke="#1a5fb4" stroke-width="2"/>`+"\n", strings.Join(path, " "))
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle" fill="#555555">%s</text>`+"\n", marginLeft+plotWidth/2, panelHeight-marginBottom+34, c.X)
}

// x is where a value is. A linear axis begins at 0.
func (c *curve) x(v float64) float64 {
	last := c.Points[len(c.Points)-1].X
	if !c.Logarithmic {
		return marginLeft + plotWidth*v/last
	}
	first := c.Points[0].X
	return marginLeft + 20 + (plotWidth-40)*math.Log(v/first)/math.Log(last/first)
}

// tick is a round number of which about five make the top.
func tick(top float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(top/5)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= top/5 {
			return n * power
		}
	}
	return 10 * power
}
