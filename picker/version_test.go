package picker_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/leasewarden/leasewarden/picker"
)

func TestVersionProblem(t *testing.T) {
	for s, want := range map[string]string{
		"":                       "no version is given",
		" \t":                    "no version is given",
		"latest":                 `"latest" is not a version such as v1.37.2`,
		"release-1.9":            `"release-1.9" is not a version such as v1.37.2`,
		"sha256:0a1b2c":          `"sha256:0a1b2c" is not a version such as v1.37.2`,
		"v":                      `"v" is not a version such as v1.37.2`,
		"vv1.2.3":                `"vv1.2.3" is not a version such as v1.37.2`,
		"1.2.3.4":                `"1.2.3.4" is not a version such as v1.37.2`,
		"1.2.":                   `"1.2." is not a version such as v1.37.2`,
		"1..2":                   `"1..2" is not a version such as v1.37.2`,
		"1.2.3-":                 `"1.2.3-" is not a version such as v1.37.2`,
		"1.2.3+":                 `"1.2.3+" is not a version such as v1.37.2`,
		"1.2.3-a..b":             `"1.2.3-a..b" is not a version such as v1.37.2`,
		"1.2.3-a+b+c":            `"1.2.3-a+b+c" is not a version such as v1.37.2`,
		"-1.2.3":                 `"-1.2.3" is not a version such as v1.37.2`,
		"1.2\n.3":                `"1.2\n.3" is not a version such as v1.37.2`,
		"1.2.3\x1b[31m":          `"1.2.3\x1b[31m" is not a version such as v1.37.2`,
		"１.２.３":                  `"\uff11.\uff12.\uff13" is not a version such as v1.37.2`,
		strings.Repeat("x", 100): `"` + strings.Repeat("x", 48) + `"… is not a version such as v1.37.2`,
		strings.Repeat("1", 300): `"` + strings.Repeat("1", 48) + `"… is longer than 256 bytes`,
	} {
		v := picker.ParseVersion(s)
		if got := v.Problem(); got != want {
			t.Errorf("ParseVersion(%q).Problem() = %q, want %q", s, got, want)
		}
		if v.String() != s {
			t.Errorf("ParseVersion(%q).String() = %q", s, v)
		}
	}
}

// ascending are versions in groups of the same order, the oldest group first.
var ascending = [][]string{
	{"", "latest", "release-1.9", "sha256:00", "1.2.3.4"},
	{"0", "v0.0", "0.0.0", "v000.0.0"},
	{"0.1.0"},
	{"v1", "1.0", "1.0.0+build"},
	{"1.2.9"},
	{"1.2.10"},
	{"v1.28.3", "v1.28.3+k3s1", "v1.28.3_k3s1", "1.28.3+k3s2"},
	{"v1.28.3-k3s1"},
	{"v1.28.3-k3s9"},
	{"v1.28.3-k3s10"},
	{"v1.28.3-rke2r1"},
	{"v1.30.2"},
	{"v1.30.2-12-g0a1b2c3", "v1.30.2-12-gffff001"},
	{"v1.30.2-13-g0a1b2c3"},
	{"v1.30.2-eks"},
	{"v1.30.2-eks-1552ad0", "v1.30.2-eks-0aaabbb"},
	{"v1.31.4"},
	{"v1.31.4-aks.1"},
	{"v1.31.4-gke.9"},
	{"v1.31.4-gke.1183000", "v1.31.4-gke-1183000", "v1.31.4-gke.01183000"},
	{"v1.31.4-gke.1183000.1"},
	{"v1.31.4-vmware.1"},
	{"v1.38.0-0"},
	{"v1.38.0-0.20260101-abcdef"},
	{"v1.38.0-20260101"},
	{"v1.38.0-alpha"},
	{"v1.38.0-alpha.1"},
	{"v1.38.0-alpha.1.5+abc"},
	{"v1.38.0-alpha.2"},
	{"v1.38.0-alpha.10"},
	{"v1.38.0-alpha.x"},
	{"v1.38.0-beta.2"},
	{"v1.38.0-dev.3"},
	{"v1.38.0-rc.0"},
	{"v1.38.0-rc.1", "v1.38.0-rc.1+x"},
	{"1.38", "1.38.0"},
	{"1.38-alpine", "1.38.0-alpine"},
	{"1.38.65536"},
	{"1.38.536870911"},
	{"1.38.536870912"},
	{"1.38.4294967296"},
	{"1.38.9007199254740992"},
	{"1.38.9007199254740993"},
	{"1.38.18446744073709551615"},
	{"1.38.18446744073709551616"},
	{"1.38.18446744073709551617"},
	{"1.70000.0"},
	{"2.0.0"},
	{"70000"},
	{"70000.0.1"},
	{strings.Repeat("9", 200)},
	{"1" + strings.Repeat("0", 200)},
}

func TestVersionCompare(t *testing.T) {
	for i, group := range ascending {
		for j, other := range ascending {
			for _, a := range group {
				for _, b := range other {
					want := compareInts(i, j)
					if got := picker.ParseVersion(a).Compare(picker.ParseVersion(b)); got != want {
						t.Errorf("%q.Compare(%q) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestVersionCompareDoesNotAllocate(t *testing.T) {
	var versions []picker.Version
	for _, group := range ascending {
		for _, s := range group {
			versions = append(versions, picker.ParseVersion(s))
		}
	}
	allocs := testing.AllocsPerRun(10, func() {
		for _, a := range versions {
			for _, b := range versions {
				a.Compare(b)
			}
		}
	})
	if allocs != 0 {
		t.Errorf("comparing takes %v allocations, want none", allocs)
	}
}

// Upstream parses the versions of LeaseCandidates with semver.ParseTolerant.
func TestVersionAgreesWithUpstream(t *testing.T) {
	var accepted []string
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := randomSemver(random)
		if _, err := semver.ParseTolerant(s); err != nil {
			continue
		}
		if p := picker.ParseVersion(s).Problem(); p != "" {
			t.Errorf("upstream reads %q: %s", s, p)
		}
		accepted = append(accepted, s)
	}
	if len(accepted) < 2000 {
		t.Fatalf("upstream reads %d of the random versions, want at least 2000", len(accepted))
	}
	for range 200_000 {
		a, b := accepted[random.IntN(len(accepted))], accepted[random.IntN(len(accepted))]
		checkUpstream(t, a, b)
	}
}

func checkUpstream(t *testing.T, a, b string) {
	t.Helper()
	x, errX := semver.ParseTolerant(a)
	y, errY := semver.ParseTolerant(b)
	if errX != nil || errY != nil || isVendor(x) || isVendor(y) {
		return
	}
	v, w := picker.ParseVersion(a), picker.ParseVersion(b)
	if v.Problem() != "" || w.Problem() != "" {
		return
	}
	if got, want := v.Compare(w), x.Compare(y); got != want {
		t.Errorf("%q.Compare(%q) = %d, upstream says %d", a, b, got, want)
	}
}

// isVendor reports whether v is a build that we put after the release: its
// first identifier is neither a number nor starts with a pre-release's word.
func isVendor(v semver.Version) bool {
	if len(v.Pre) == 0 || v.Pre[0].IsNum {
		return false
	}
	word := strings.ToLower(v.Pre[0].VersionStr)
	if end := strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
		word = word[:end]
	}
	return !slices.Contains([]string{"alpha", "beta", "rc", "pre", "prerelease", "preview",
		"dev", "snapshot", "nightly", "canary"}, word)
}

func randomSemver(r *rand.Rand) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	number := func() string { return pick("0", "1", "2", "10", "01", "65536", "4294967296", "18446744073709551615") }
	s := pick("", "v", " v") + number()
	for range r.IntN(3) {
		s += "." + number()
	}
	if strings.Count(s, ".") < 2 {
		return s
	}
	if r.IntN(2) == 0 {
		s += "-" + pick("alpha", "beta", "rc", "rc1", "rc-2", "0", "7", "dev", "PRE", "alpha-1")
		for range r.IntN(3) {
			s += "." + pick("0", "1", "9", "10", "x", "X", "a-b", "-")
		}
	}
	return s + pick("", "", "+k3s1", "+a.b", " ")
}

func randomVersion(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		group := ascending[r.IntN(len(ascending))]
		return group[r.IntN(len(group))]
	}
	s := randomSemver(r)
	if strings.Count(s, ".") == 2 && r.IntN(2) == 0 {
		s = strings.TrimSpace(s) + []string{"-gke.1", "-gke.10", "-eks-1552ad0", "-eks-1552ad", "-k3s1", "-a1b", "-a-1", "-1a"}[r.IntN(8)]
	}
	return s
}

func TestVersionCompareIsATotalOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		checkVersionOrder(t, randomVersion(random), randomVersion(random), randomVersion(random))
	}
}

func checkVersionOrder(t *testing.T, a, b, c string) {
	t.Helper()
	checkOrder(t, picker.ParseVersion(a), picker.ParseVersion(b), picker.ParseVersion(c), picker.Version.Compare)
}

// checkOrder checks the laws of a total order on three values.
func checkOrder[T any](t *testing.T, a, b, c T, compare func(T, T) int) {
	t.Helper()
	ab, bc, ac := compare(a, b), compare(b, c), compare(a, c)
	switch {
	case compare(a, a) != 0:
		t.Errorf("%v is not equal to itself", a)
	case compare(b, a) != -ab:
		t.Errorf("%v and %v: %d one way, %d the other", a, b, ab, compare(b, a))
	case ab <= 0 && bc <= 0 && ac > 0, ab >= 0 && bc >= 0 && ac < 0:
		t.Errorf("%v, %v, %v: not transitive: %d, %d, but %d", a, b, c, ab, bc, ac)
	case ab == 0 && ac != bc:
		t.Errorf("%v and %v are equal, but compare with %v as %d and %d", a, b, c, ac, bc)
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, group := range ascending {
		for _, s := range group {
			f.Add(s)
		}
	}
	f.Add("  ")
	f.Add("v1.2.3-\x00")
	f.Fuzz(func(t *testing.T, s string) {
		v := picker.ParseVersion(s)
		if v.String() != s {
			t.Errorf("ParseVersion(%q).String() = %q", s, v)
		}
		if p := v.Problem(); len(p) > 400 || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' }) {
			t.Errorf("ParseVersion(%q).Problem() is too long, or not one line: %q", s, p)
		}
		if invalid := picker.ParseVersion(""); (v.Compare(invalid) == 0) != (v.Problem() != "") {
			t.Errorf("%q compares with no version as %d, though its problem is %q", s, v.Compare(invalid), v.Problem())
		}
	})
}

func FuzzCompareVersions(f *testing.F) {
	for i, group := range ascending {
		f.Add(group[0], ascending[(i+1)%len(ascending)][0], ascending[(i+2)%len(ascending)][0])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		checkVersionOrder(t, a, b, c)
		checkUpstream(t, a, b)
	})
}
