package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

var update = flag.Bool("update", false, "write down what is drawn")

var drawnAt = time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)

// elections are those of testdata/elections.yaml.
func elections(t *testing.T) []v1alpha1.Election {
	t.Helper()
	raw, err := os.ReadFile("testdata/elections.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []v1alpha1.Election
	for _, document := range strings.Split(string(raw), "\n---\n") {
		var e v1alpha1.Election
		if err := yaml.UnmarshalStrict([]byte(document), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// checkDrawing compares with testdata, and makes sure that it fits.
func checkDrawing(t *testing.T, name, got string, width int) {
	t.Helper()
	for _, line := range strings.Split(got, "\n") {
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("%d characters, more than %d: %s", n, width, line)
		}
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", file, diff)
	}
}

func TestOverview(t *testing.T) {
	var b strings.Builder
	if err := Overview(&b, elections(t), drawnAt, Style{}); err != nil {
		t.Fatal(err)
	}
	checkDrawing(t, "overview.txt", b.String(), 80)
}

func TestPage(t *testing.T) {
	var b strings.Builder
	for _, e := range elections(t) {
		if err := Page(&b, &e, drawnAt, Style{}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	checkDrawing(t, "pages.txt", b.String(), 80)
}

func TestTimeline(t *testing.T) {
	var b strings.Builder
	for _, e := range elections(t) {
		if err := Timeline(&b, &e, time.Time{}, drawnAt, Style{}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	first := elections(t)[0]
	if err := Timeline(&b, &first, drawnAt.Add(-30*time.Minute), drawnAt, Style{Width: 60}); err != nil {
		t.Fatal(err)
	}
	checkDrawing(t, "timelines.txt", b.String(), 80)
}

// Colour comes in whole lines, and in nothing but those.
func TestColour(t *testing.T) {
	for name, draw := range map[string]func(*strings.Builder, Style) error{
		"overview": func(b *strings.Builder, s Style) error { return Overview(b, elections(t), drawnAt, s) },
		"page":     func(b *strings.Builder, s Style) error { return Page(b, &elections(t)[0], drawnAt, s) },
		"timeline": func(b *strings.Builder, s Style) error { return Timeline(b, &elections(t)[0], time.Time{}, drawnAt, s) },
	} {
		var with, without strings.Builder
		if draw(&with, Style{Color: true}) != nil || draw(&without, Style{}) != nil {
			t.Fatal("cannot draw")
		}
		plain := with.String()
		for _, how := range []emphasis{bold, faint, red, green, yellow, blue, magenta, cyan, reset} {
			plain = strings.ReplaceAll(plain, string(how), "")
		}
		if with.String() == without.String() || plain != without.String() {
			t.Errorf("%s: without its colours it is\n%s, want\n%s", name, plain, without.String())
		}
	}
}

// Whatever stands in an Election, there is a drawing.
func TestDrawingsOfLittle(t *testing.T) {
	end := metav1.NewTime(drawnAt.Add(-time.Hour))
	for name, e := range map[string]v1alpha1.Election{
		"nothing":             {},
		"a term of no length": {Status: v1alpha1.ElectionStatus{Terms: []v1alpha1.Term{{Holder: "a", Start: end, End: &end}}}},
		"a term that begins now": {Status: v1alpha1.ElectionStatus{Holder: &v1alpha1.ElectionHolder{Name: "a"},
			Terms: []v1alpha1.Term{{Holder: "a", Start: metav1.NewTime(drawnAt)}}}},
		"a term of ten years, and by a clock ahead of ours": {Status: v1alpha1.ElectionStatus{Terms: []v1alpha1.Term{
			{Holder: "b", Start: metav1.NewTime(drawnAt.Add(time.Minute))}, {Holder: "a", Start: metav1.NewTime(drawnAt.AddDate(-10, 0, 0)), End: &end}}}},
		"a long name": {Status: v1alpha1.ElectionStatus{Terms: []v1alpha1.Term{{Holder: strings.Repeat("x", 300), Start: end}}}},
		"half an answer": {Spec: v1alpha1.ElectionSpec{Pin: "x"}, Status: v1alpha1.ElectionStatus{
			Switchover: &v1alpha1.SwitchoverStatus{To: "x", State: v1alpha1.SwitchoverInProgress}}},
		"half a schedule": {Status: v1alpha1.ElectionStatus{Switchover: &v1alpha1.SwitchoverStatus{To: "x", State: v1alpha1.SwitchoverScheduled}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Timeline(&b, &e, time.Time{}, drawnAt, Style{}); err != nil {
				t.Error(err)
			}
			if err := Page(&b, &e, drawnAt, Style{}); err != nil {
				t.Error(err)
			}
			if err := Overview(&b, []v1alpha1.Election{e}, drawnAt, Style{}); err != nil {
				t.Error(err)
			}
			for _, line := range strings.Split(b.String(), "\n") {
				if utf8.RuneCountInString(line) > 80 {
					t.Errorf("too long: %s", line)
				}
			}
		})
	}
}
