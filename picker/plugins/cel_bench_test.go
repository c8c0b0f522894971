package plugins

import "testing"

// BenchmarkCEL measures one evaluation, which is what an expression adds to a
// decision for each candidate.
func BenchmarkCEL(b *testing.B) {
	for _, bench := range []struct{ name, expression string }{
		{"label", "candidate.labels['pool'] == 'spot' ? 1 : 0"},
		{"number", "int(candidate.labels['weight']) * 2 + candidate.priority"},
		{"optional", "candidate.labels[?'none'].orValue('') == 'x'"},
		{"version", "semver(candidate.binaryVersion, true).minor()"},
		{"missing", "candidate.labels['none'] == 'x'"},
	} {
		score := mustCompile(b, celScores(bench.expression)).Scores[0]
		b.Run(bench.name, func(b *testing.B) {
			s := full()
			b.ReportAllocs()
			for b.Loop() {
				score.Score(s, &s.Candidates[0])
			}
		})
	}
}
