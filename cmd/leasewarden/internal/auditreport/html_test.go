package auditreport

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/leasewarden/leasewarden/audit"
)

func TestThePageHasEveryTerm(t *testing.T) {
	r := recorded(t)
	page := html(t, r)
	for i := range r.Leases {
		l := &r.Leases[i]
		courses := []*audit.Course{&l.AsItWas}
		if l.UnderPolicy != nil {
			courses = append(courses, l.UnderPolicy)
		}
		for _, course := range courses {
			for _, term := range course.Terms {
				bar := regexp.MustCompile(`aria-label="` + regexp.QuoteMeta(term.Holder) + `[^"]*from: ` + term.Start.Format("15:04:05"))
				if !bar.MatchString(page) {
					t.Errorf("no bar for the term of %s from %v", term.Holder, term.Start)
				}
			}
		}
		if want := l.AsItWas.Vacancies; want > 0 && strings.Count(page, `class="bar vacant`) < want {
			t.Errorf("%s: fewer bars than the %d times without a leader", l.Lease, want)
		}
	}
	bars, rows := strings.Count(page, `class="bar v`)-strings.Count(page, `class="bar vacant`), strings.Count(page, `<tr><td>`)
	if bars == 0 || rows < bars {
		t.Errorf("%d bars of known versions, and %d rows", bars, rows)
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page := html(t, recorded(t))
	for _, forbidden := range []string{"<script", "http:", "https:", "//", "url(", "@import", "<link", "<img"} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page has %q", forbidden)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page does not forbid itself to load anything")
	}
}

func TestDetailsAreShownToWhoeverPointsOrTabs(t *testing.T) {
	page := html(t, madeUp(terms(2, "a"), nil))
	if !strings.Contains(page, ".bar:hover > .details, .bar:focus > .details { display: block; }") {
		t.Error("nothing shows the details")
	}
	if bars, focusable := strings.Count(page, `<div class="bar `), strings.Count(page, `tabindex="0"`); bars != focusable {
		t.Errorf("%d of %d bars can be reached with the tab key", focusable, bars)
	}
}

func TestNothingOnThePageIsMarkup(t *testing.T) {
	was := terms(2, hostile)
	was[0].Version, was[0].Node = hostile, hostile
	r := madeUp(was, was)
	r.Leases[0].Lease, r.Leases[0].Notes, r.Notes = hostile, []string{hostile}, []string{hostile}
	r.Leases[0].Refusals = []audit.Refusal{{Message: hostile}}
	page := html(t, r)
	if strings.Contains(page, "<script") {
		t.Error("a name has become a script")
	}
	if strings.ContainsAny(page, "\x1b\u202e\u2066\u200f") {
		t.Error("the page has characters that change how others are seen")
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < 10 {
		t.Errorf("the name is only there %d times", n)
	}
}

func TestLongIdentitiesAreCutOnThePage(t *testing.T) {
	if page := html(t, madeUp(terms(2, strings.Repeat("h", 64<<10)), nil)); len(page) > 40_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

func TestColoursAreByVersion(t *testing.T) {
	was := terms(12, "a")
	for i := range was[:10] {
		was[i].Version = fmt.Sprintf("v1.%d.0", i)
	}
	page := newPage(madeUp(was, was[1:2])).Leases[0]
	if len(page.Versions) != 11 || page.Versions[10].Name != "no version known" || page.Versions[10].Class != "unknown" {
		t.Errorf("the legend is %+v", page.Versions)
	}
	if first, second := page.Versions[0].Class, page.Versions[1].Class; first != "v0" || second != "v1" || page.Lanes[1].Bars[0].Class != second {
		t.Errorf("colours are %s and %s, and %s for the second version in the other lane", first, second, page.Lanes[1].Bars[0].Class)
	}
}

func TestBarsStayOnTheTimeLine(t *testing.T) {
	was := terms(3, "a")
	was[0].Start, was[0].Earlier = at(-3600), true
	was[2].End = nil
	for _, b := range newPage(madeUp(was, nil)).Leases[0].Lanes[0].Bars {
		if b.Left < 0 || b.Width < 0 || b.Left+b.Width > 100.0001 {
			t.Errorf("bar %+v is not on the time line", b)
		}
	}
	one := terms(1, "a")
	r := madeUp(one, nil)
	r.Log.To = r.Log.From
	if page := newPage(r).Leases[0]; len(page.Ticks) != 0 || page.Lanes[0].Bars[0].Left != 0 {
		t.Errorf("a log of a moment gives %+v", page)
	}
}

func TestTicks(t *testing.T) {
	for _, minutes := range []int{1, 3, 45, 600, 60 * 24 * 30} {
		x := axis{from: at(0), to: at(60 * minutes), clock: sameDay}
		if n := len(x.ticks()); n < 3 || n > maxTicks+1 {
			t.Errorf("%d minutes have %d ticks", minutes, n)
		}
	}
}
