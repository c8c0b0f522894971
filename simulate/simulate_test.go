package simulate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/candidates"
)

const samples = "../cmd/leasewarden/testdata/simulate/"

func sample(t *testing.T, name string) *Scenario {
	t.Helper()
	text, err := os.ReadFile(samples + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// under makes a contender of a policy that governs every Lease.
func under(strategy v1alpha1.StrategyName, edit ...func(*v1alpha1.ElectionPolicySpec)) Contender {
	p := &v1alpha1.ClusterElectionPolicy{}
	p.Name = string(strategy)
	spec := &p.Spec.ElectionPolicySpec
	spec.Leases.Names = []string{"*"}
	spec.Strategy.Name = strategy
	spec.Candidates.Pods = &v1alpha1.PodCandidates{Version: &v1alpha1.VersionSource{FromLabel: versionLabel}}
	spec.Candidates.Pods.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: versionLabel, Operator: metav1.LabelSelectorOpExists}}
	for _, e := range edit {
		e(spec)
	}
	return Contender{Name: p.Name, Objects: func() *candidates.ObjectSet {
		set := candidates.NewObjectSet()
		set.Add(p.DeepCopy())
		return set
	}}
}

var noPolicy = Contender{Name: "no policy"}

func preempting(s *v1alpha1.ElectionPolicySpec) {
	s.Preemption.When = v1alpha1.PreemptForBetter
	s.Preemption.MinTerm = &metav1.Duration{Duration: 30 * time.Second}
}

func neverRelease(s *v1alpha1.ElectionPolicySpec) {
	no := false
	s.Failover.ReleaseOnTermination = &no
}

func play(t *testing.T, s *Scenario, c Contender, runs int) *Result {
	t.Helper()
	r, err := Run(context.Background(), s, c, runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	for _, c := range []Contender{noPolicy, under(v1alpha1.OldestEmulationVersion, preempting)} {
		first, again := play(t, sample(t, "rollback"), c, 5), play(t, sample(t, "rollback"), c, 5)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%s (-first +again):\n%s", c.Name, diff)
		}
	}
}

// TestNobodyLeadsTwice: whatever happens, and whoever chooses.
func TestNobodyLeadsTwice(t *testing.T) {
	files, err := filepath.Glob(samples + "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "kind:") {
			continue
		}
		played++
		s := sample(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		for _, c := range []Contender{
			noPolicy, under(v1alpha1.OldestEmulationVersion, preempting), under(v1alpha1.RolloutAware), under(v1alpha1.Sticky, neverRelease),
			under(v1alpha1.NewestVersion, preempting, func(p *v1alpha1.ElectionPolicySpec) { p.Preemption.Method = v1alpha1.Evict }),
		} {
			r := play(t, s, c, 10)
			if r.Both != 0 {
				t.Errorf("%s under %s: two led for %vs", file, c.Name, r.Both)
			}
			if len(r.Sample) == 0 {
				t.Errorf("%s under %s: nobody led", file, c.Name)
			}
		}
	}
	if played < 4 {
		t.Errorf("only %d scenarios were played", played)
	}
}

// TestSkewIsAsUpstreamSaysItIs: KEP-4355 says that about a quarter of the
// upgrades of three nodes violate skew, and nearly every rollback.
func TestSkewIsAsUpstreamSaysItIs(t *testing.T) {
	const runs = 300
	if got := *play(t, sample(t, "upgrade"), noPolicy, runs).SkewedRuns; got < runs*18/100 || got > runs*32/100 {
		t.Errorf("%d of %d upgrades violate skew without a policy", got, runs)
	}
	if got := *play(t, sample(t, "rollback"), noPolicy, runs).SkewedRuns; got < runs*95/100 {
		t.Errorf("%d of %d rollbacks violate skew without a policy", got, runs)
	}
	oldest := under(v1alpha1.OldestEmulationVersion)
	if got := *play(t, sample(t, "upgrade"), oldest, 50).SkewedRuns; got != 0 {
		t.Errorf("%d of 50 upgrades violate skew with the oldest first", got)
	}
	without, with := play(t, sample(t, "rollback"), oldest, 50), play(t, sample(t, "rollback"), under(v1alpha1.OldestEmulationVersion, preempting), 50)
	if *with.Skewed > *without.Skewed/5 {
		t.Errorf("preemption shortens the skew of a rollback from %vs to %vs only", *without.Skewed, *with.Skewed)
	}
}

func scenario(t *testing.T, steps string) *Scenario {
	t.Helper()
	s, err := Parse([]byte(`lease: ns/app
duration: 5m
replicas: [{name: a, version: v1.0.0, node: n1, zone: x}, {name: b, version: v1.1.0, node: n2, zone: y}, {name: c, version: v1.1.0, node: n3, zone: z}]
timings: {restart: 30s}
` + steps))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatHappens(t *testing.T) {
	oldest := v1alpha1.OldestEmulationVersion
	for name, test := range map[string]struct {
		steps    string
		under    Contender
		changes  float64
		min, max float64 // of the longest time without a leader
	}{
		"nothing":                              {"", noPolicy, 0, 0, 0},
		"nothing, under a policy":              {"", under(oldest), 0, 0, 0},
		"a crash":                              {"steps: [{at: 1m, crash: {replica: leader}}]", noPolicy, 1, 13, 19.5},
		"a crash that is reported":             {"steps: [{at: 1m, crash: {replica: leader}}]", under(oldest), 1, 0.5, 6},
		"a crash that nobody acts on":          {"steps: [{at: 1m, crash: {replica: leader}}]", under(oldest, neverRelease), 1, 13, 30},
		"lost power: nobody reports it":        {"steps: [{at: 1m, lose: {replica: leader}}]", noPolicy, 1, 13, 19.5},
		"cut off: it leads until its deadline": {"steps: [{at: 1m, cutOff: {replica: leader}}]", noPolicy, 1, 1, 9.5},
		"cut off for a moment":                 {"steps: [{at: 1m, cutOff: {replica: leader, for: 5s}}]", noPolicy, 0, 0, 0},
		"a release on exit":                    {"timings: {releaseOnExit: true}\nsteps: [{at: 1m, replace: {node: n1, down: 20s}}, {at: 2m, replace: {node: n2, down: 20s}}, {at: 3m, replace: {node: n3, down: 20s}}]", noPolicy, -1, 0, 4.5},
	} {
		t.Run(name, func(t *testing.T) {
			text := test.steps
			var s *Scenario
			if strings.HasPrefix(text, "timings") {
				var err error
				s, err = Parse([]byte("lease: ns/app\nduration: 5m\nreplicas: [{name: a, node: n1}, {name: b, node: n2}, {name: c, node: n3}]\n" + text))
				if err != nil {
					t.Fatal(err)
				}
			} else {
				s = scenario(t, text)
			}
			r := play(t, s, test.under, 40)
			if test.changes >= 0 && r.Changes != test.changes {
				t.Errorf("%v changes, want %v", r.Changes, test.changes)
			}
			if r.Longest < test.min || r.Longest > test.max {
				t.Errorf("nobody led for %vs at the longest, want from %v to %v", r.Longest, test.min, test.max)
			}
			if r.Both != 0 {
				t.Errorf("two led for %vs", r.Both)
			}
		})
	}
}

func TestARolloutCostsOneChangeWhenTheNewestLead(t *testing.T) {
	if got := play(t, sample(t, "rollout"), under(v1alpha1.RolloutAware), 40); got.MaxChanges != 1 {
		t.Errorf("a rollout costs %d changes", got.MaxChanges)
	}
	if got := play(t, sample(t, "rollout"), noPolicy, 40); got.MaxChanges < 2 {
		t.Errorf("without a policy a rollout never costs more than %d changes", got.MaxChanges)
	}
}

func TestAPolicyForAnotherLeaseIsAnError(t *testing.T) {
	other := under(v1alpha1.Sticky, func(s *v1alpha1.ElectionPolicySpec) { s.Leases.Names = []string{"other"} })
	if _, err := Run(context.Background(), scenario(t, ""), other, 1, nil); err == nil || err.Error() != "Sticky: no policy governs Lease ns/app" {
		t.Errorf("error is %v", err)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := 0
	_, err := Run(ctx, scenario(t, ""), noPolicy, 100, func() {
		if done++; done == 3 {
			cancel()
		}
	})
	if err == nil || done != 3 {
		t.Errorf("%d runs, error %v", done, err)
	}
}

func TestARunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	contender := under(v1alpha1.OldestEmulationVersion)
	objects := contender.Objects
	contender.Objects = func() *candidates.ObjectSet {
		cancel()
		return objects()
	}
	if _, err := Run(ctx, scenario(t, ""), contender, 1, func() { t.Error("the run came to its end") }); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
