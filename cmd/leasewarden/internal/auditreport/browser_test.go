//go:build browser

package auditreport

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leasewarden/leasewarden/audit"
)

// browsers are what a Chromium may be called.
var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// chromium runs a browser without a window on a page, and returns what it
// prints.
func chromium(t *testing.T, page string, args ...string) string {
	t.Helper()
	path := ""
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatalf("no browser: install one of %s, such as Debian's package chromium-headless-shell", strings.Join(browsers, ", "))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir()}, args...)
	out, err := exec.CommandContext(ctx, path, append(args, "file://"+page)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(out)
}

// probe measures the page once it is laid out. Only the test's copy has it.
const probe = `<script>
const bars = [...document.querySelectorAll('.bar')].map(bar => {
  const box = bar.getBoundingClientRect(), lane = bar.parentElement.getBoundingClientRect();
  bar.focus();
  const details = bar.querySelector('.details');
  // A window that does not have the focus yet shows nothing as focused.
  const onFocus = !document.hasFocus() || getComputedStyle(details).display === 'block';
  details.style.display = 'block';
  const shown = details.getBoundingClientRect();
  return {
    label: bar.getAttribute('aria-label'), width: box.width, height: box.height,
    inLane: box.left >= lane.left - 1 && box.right <= lane.right + 4,
    details: onFocus && shown.width > 0 && details.innerText.length > 10 && document.activeElement === bar,
    onScreen: shown.left >= -1 && shown.right <= document.documentElement.clientWidth + 1,
    colour: getComputedStyle(bar).backgroundColor + getComputedStyle(bar).backgroundImage,
    hidden: details.style.removeProperty('display'),
  };
});
const style = getComputedStyle(document.body);
const rows = [...document.querySelectorAll('table.terms tr')].map(row => row.innerText);
document.body.innerHTML = '';
const result = document.createElement('pre');
result.id = 'result';
result.textContent = JSON.stringify({bars, rows, text: style.color, page: style.backgroundColor, overflow: document.documentElement.scrollWidth > innerWidth});
document.body.append(result);
</script>`

type measured struct {
	Bars []struct {
		Label                     string
		Width, Height             float64
		InLane, Details, OnScreen bool
		Colour                    string
	}
	Rows       []string
	Text, Page string
	Overflow   bool
}

var (
	policyOfPage = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	resultOfPage = regexp.MustCompile(`(?s)<pre id="result">(.*?)</pre>`)
)

func measure(t *testing.T, page string, args ...string) measured {
	t.Helper()
	page = strings.Replace(policyOfPage.ReplaceAllString(page, ""), "</body>", probe+"</body>", 1)
	file := filepath.Join(t.TempDir(), "page.html")
	mustWrite(t, file, page)
	dom := chromium(t, file, append(args, "--window-size=1200,900", "--dump-dom")...)
	found := resultOfPage.FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("the browser did not render the page:\n%.2000s", dom)
	}
	var m measured
	if err := json.Unmarshal([]byte(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(found[1])), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestABrowserShowsEveryTerm(t *testing.T) {
	r := recorded(t)
	page := html(t, r)
	looks := map[string]measured{}
	for name, scheme := range map[string]string{"dark": "0", "light": "1"} {
		t.Run(name, func(t *testing.T) {
			m := measure(t, page, "--blink-settings=preferredColorScheme="+scheme)
			looks[name] = m
			if m.Overflow {
				t.Error("the page is wider than the window")
			}
			for _, bar := range m.Bars {
				if bar.Width < 3 || bar.Height < 20 || !bar.InLane || !bar.Details || !bar.OnScreen {
					t.Errorf("bar is not shown as it should be: %+v", bar)
				}
			}
			for i := range r.Leases {
				checkTerms(t, &m, r.Leases[i].AsItWas.Terms)
				if would := r.Leases[i].UnderPolicy; would != nil {
					checkTerms(t, &m, would.Terms)
				}
			}
		})
	}
	light, dark := looks["light"], looks["dark"]
	if light.Page == dark.Page || light.Text == dark.Text || light.Bars[0].Colour == dark.Bars[0].Colour {
		t.Errorf("light and dark look the same: %s on %s", light.Text, light.Page)
	}
}

func checkTerms(t *testing.T, m *measured, terms []audit.Term) {
	t.Helper()
	for i := range terms {
		term := &terms[i]
		from := term.Start.Format("15:04:05")
		bar, row := false, false
		for _, b := range m.Bars {
			bar = bar || strings.HasPrefix(b.Label, term.Holder) && strings.Contains(b.Label, from)
		}
		for _, text := range m.Rows {
			row = row || strings.Contains(text, term.Holder) && strings.Contains(text, from)
		}
		if !bar || !row {
			t.Errorf("the term of %s from %s: bar %v, row %v", term.Holder, from, bar, row)
		}
	}
}

func TestABrowserPrintsThePage(t *testing.T) {
	dir := t.TempDir()
	file, printed := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.pdf")
	mustWrite(t, file, html(t, recorded(t)))
	chromium(t, file, "--print-to-pdf="+printed)
	pdf, err := os.ReadFile(printed)
	if err != nil || !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 10_000 {
		t.Errorf("%d bytes were printed: %v", len(pdf), err)
	}
}

func TestALongLogIsShownToo(t *testing.T) {
	m := measure(t, html(t, madeUp(terms(400, "app-0"), nil)))
	if len(m.Rows) != 401 || len(m.Bars) < 799 {
		t.Errorf("%d rows and %d bars", len(m.Rows), len(m.Bars))
	}
}
