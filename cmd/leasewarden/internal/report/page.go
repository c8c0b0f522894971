package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/picker"
)

// Page writes all that an Election says of one Lease, as of now.
func Page(w io.Writer, e *v1alpha1.Election, now time.Time, style Style) error {
	p := newPrinter(style)
	p.wrapped(bold, "Lease "+nameOf(e)+", "+heldFor(e, now))
	p.wrapped(plain, fmt.Sprintf("%s, strategy %s, mode %s", e.Status.Policy, e.Status.Strategy, e.Status.Mode))
	p.line(plain, "")
	for _, f := range pageFacts(e, now) {
		p.fact(f.title, f.text)
	}
	if len(e.Status.Candidates) > 0 {
		p.line(plain, "")
		p.verdicts(e)
	}
	if len(e.Status.Conditions) > 0 {
		p.line(plain, "")
		p.conditions(e.Status.Conditions, now)
	}
	return p.flush(w)
}

func heldFor(e *v1alpha1.Election, now time.Time) string {
	h := e.Status.Holder
	if h == nil {
		return "vacant"
	}
	text := "held by " + h.Name
	if h.Since != nil {
		text += " for " + since(h.Since, now)
	}
	return text
}

type fact struct{ title, text string }

func pageFacts(e *v1alpha1.Election, now time.Time) []fact {
	facts := []fact{{"Chosen", chosenText(e)}}
	if h := e.Status.Holder; h != nil && h.Identity != h.Name {
		facts = append(facts, fact{"Identity", h.Identity})
	}
	if e.Spec.Paused {
		facts = append(facts, fact{"Paused", "any candidate may acquire the Lease, and nobody is made to step down"})
	}
	if e.Spec.Pin != "" {
		facts = append(facts, fact{"Pinned to", e.Spec.Pin})
	}
	if s := e.Status.Switchover; s != nil {
		facts = append(facts, fact{"Switchover", switchoverText(s, now)})
	}
	if doing := action(e); doing != "" {
		facts = append(facts, fact{"Action", doing})
	}
	if text := dryRunText(e, now); text != "" {
		facts = append(facts, fact{"Dry-run", text})
	}
	return facts
}

// action is what is being done about the term, "" for nothing.
func action(e *v1alpha1.Election) string {
	if c := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionSteppingDown); c != nil && c.Status == metav1.ConditionTrue {
		return c.Message
	}
	return ""
}

func chosenText(e *v1alpha1.Election) string {
	switch {
	case e.Status.Chosen != "":
		return e.Status.Chosen + ", by " + e.Status.Criterion
	case e.Status.Criterion == picker.CriterionPaused:
		return "nobody: the election is paused"
	case e.Status.Criterion != "":
		return "any eligible candidate, by " + e.Status.Criterion
	}
	return "nobody"
}

// factWidth is that of the longest title.
const factWidth = len("Switchover")

// fact writes a title with a text that may take several lines.
func (p *printer) fact(title, text string) {
	indent := pad(title, factWidth) + gap
	for _, line := range wrap(text, p.Width-len(indent)) {
		p.line(plain, indent+line)
		indent = strings.Repeat(" ", width(indent))
	}
}

// verdicts writes the candidates in the picker's order. The scores are those of
// the policy's criteria.
func (p *printer) verdicts(e *v1alpha1.Election) {
	var all []row
	for i := range e.Status.Candidates {
		c := &e.Status.Candidates[i]
		r := row{lease: e.Name, cells: []string{c.Name, shortNode(c.Node), versionText(c), verdictText(e, c)}}
		switch {
		case !c.Eligible:
			r.how = faint
		case c.Name == e.Status.Chosen:
			r.how = green
		}
		all = append(all, r)
	}
	p.rows([]field{replicaField("CANDIDATE"), {title: "NODE", cut: cutBack, least: 10}, {title: "VERSION"}, {title: "VERDICT"}}, all)
}

func versionText(c *v1alpha1.CandidateVerdict) string {
	if c.EmulationVersion == "" {
		return c.Version
	}
	return cmp.Or(c.Version, "?") + " as " + c.EmulationVersion
}

func verdictText(e *v1alpha1.Election, c *v1alpha1.CandidateVerdict) string {
	var words []string
	if e.Status.Holder != nil && e.Status.Holder.Name == c.Name {
		words = append(words, "leads")
	}
	switch {
	case !c.Eligible:
		return strings.Join(append(words, "no: "+c.Reason), "; ")
	case c.Name == e.Status.Chosen:
		words = append(words, "chosen")
	default:
		words = append(words, "eligible")
	}
	text := strings.Join(words, ", ")
	if len(c.Scores) > 0 {
		text += " (" + strings.Join(c.Scores, ", ") + ")"
	}
	return text
}

// conditions writes what holds and what does not, the unusual in colour.
func (p *printer) conditions(conditions []metav1.Condition, now time.Time) {
	var all []row
	for i := range conditions {
		c := &conditions[i]
		r := row{cells: []string{c.Type, string(c.Status), duration.HumanDuration(now.Sub(c.LastTransitionTime.Time)), c.Message}}
		if wanted := c.Type == v1alpha1.ConditionReady || c.Type == v1alpha1.ConditionPinned; wanted != (c.Status == metav1.ConditionTrue) {
			r.how = yellow
		}
		all = append(all, r)
	}
	p.rows([]field{wordField("CONDITION"), {title: "STATUS"}, {title: "SINCE"}, {title: "MESSAGE"}}, all)
}
