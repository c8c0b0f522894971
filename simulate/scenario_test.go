package simulate

import (
	"strings"
	"testing"
)

func TestWhatIsWrongWithAScenario(t *testing.T) {
	const good = "lease: ns/app\nduration: 1m\nreplicas: [{name: a, node: n, zone: z}]\n"
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":               {"", "is empty"},
		"an unknown field":    {good + "colour: red\n", `unknown field "colour"`},
		"no Lease":            {strings.Replace(good, "ns/app", "app", 1), `lease: Invalid value: "app": must be NAMESPACE/NAME`},
		"no duration":         {strings.Replace(good, "1m", "0s", 1), "duration: Invalid value"},
		"too long":            {strings.Replace(good, "1m", "1000h", 1), "at most 168h0m0s"},
		"a duration in words": {strings.Replace(good, "1m", "long", 1), "invalid duration"},
		"no replica":          {"lease: ns/app\nduration: 1m\n", "replicas: Required value"},
		"twins":               {strings.Replace(good, "[{", "[{name: a}, {", 1), "replicas[1].name: Duplicate value"},
		"one called leader":   {strings.Replace(good, "name: a", "name: leader", 1), "replicas[0].name: Invalid value"},
		"no version":          {strings.Replace(good, "name: a", "name: a, version: latest", 1), `"latest" is not a version`},
		"bad timings":         {good + "timings: {leaseDuration: 5s, retryPeriod: 9s}\n", "timings.leaseDuration: Invalid value"},
		"bad retry":           {good + "timings: {retryPeriod: 9s}\n", "must be longer than 1.2 times retryPeriod"},
		"half seconds":        {good + "timings: {leaseDuration: 15500ms}\n", "must be whole seconds"},
		"a negative start":    {good + "timings: {start: -1s}\n", "timings.start: Invalid value"},
		"a step too late":     {good + "steps: [{at: 2m, crash: {replica: a}}]\n", "steps[0].at: Invalid value"},
		"an empty step":       {good + "steps: [{at: 1s}]\n", "steps[0]: Invalid value: 0: give just one"},
		"a double step":       {good + "steps: [{at: 1s, crash: {replica: a}, lose: {replica: a}}]\n", "steps[0]: Invalid value: 2: give just one"},
		"a stranger":          {good + "steps: [{at: 1s, crash: {replica: b}}]\n", `steps[0].crash.replica: Not found: "b"`},
		"another zone":        {good + "steps: [{at: 1s, lose: {zone: q}}]\n", `steps[0].lose.zone: Not found: "q"`},
		"nobody":              {good + "steps: [{at: 1s, cutOff: {}}]\n", "steps[0].cutOff: Invalid value"},
		"a negative outage":   {good + "steps: [{at: 1s, crash: {replica: a, for: -1h}}]\n", `steps[0].crash.for: Invalid value: "-1h0m0s": must not be negative`},
		"a negative loss":     {good + "steps: [{at: 1s, lose: {zone: z, for: -1s}}]\n", "steps[0].lose.for: Invalid value"},
		"a negative cut":      {good + "steps: [{at: 1s, cutOff: {replica: leader, for: -1s}}]\n", "steps[0].cutOff.for: Invalid value"},
		"down before":         {good + "steps: [{at: 1s, replace: {node: n, down: -1h}}]\n", "steps[0].replace.down: Invalid value"},
		"ready before":        {good + "steps: [{at: 1s, rollout: {version: v1.2.3, ready: -10m}}]\n", "steps[0].rollout.ready: Invalid value"},
		"down for ever":       {good + "steps: [{at: 1s, replace: {node: n, down: 2000000h}}]\n", "steps[0].replace.down: Invalid value"},
		"an endless start":    {good + "timings: {start: 2000000h}\n", "timings.start: Invalid value"},
		"an endless Lease":    {good + "timings: {leaseDuration: 2000000h}\n", "timings.leaseDuration: Invalid value"},
		"an endless retry":    {good + "timings: {retryPeriod: 2000000h}\n", "timings.retryPeriod: Invalid value"},
		"too eager":           {good + "timings: {retryPeriod: 9ms}\n", `timings.retryPeriod: Invalid value: "9ms": must be at least 10ms`},
		"a negative retry":    {good + "timings: {retryPeriod: -1s}\n", "timings.retryPeriod: Invalid value"},
		"too much to play":    {strings.Replace(good, "1m", "168h", 1) + "timings: {retryPeriod: 10ms}\n", `duration: Invalid value: "168h0m0s": is too long for 1 replicas`},
		"another node":        {good + "steps: [{at: 1s, replace: {node: m}}]\n", `steps[0].replace.node: Invalid value: "m": no replica is on it`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %s", err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "a", "null", "[]", "lease: a/b\nduration: 1m\nreplicas: [{name: a}]\n", "steps: [null]", "replicas: [null, {}]", "duration: -1", "steps: [{crash: {}}, {rollout: {}}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := Parse(text); err == nil && (s.Key().Name == "" || len(s.Replicas) == 0) {
			t.Errorf("%q gives %+v", text, s)
		}
	})
}
