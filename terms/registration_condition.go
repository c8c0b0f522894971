package terms

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// CEL for parts of a write to a Lease. All of it is total: an error at run time
// would let the write pass by the webhook. On CREATE oldObject is null.
const (
	celHolder         = `object.?spec.?holderIdentity.orValue("")`
	celOldHolder      = `oldObject.?spec.?holderIdentity.orValue("")`
	celAnnotations    = `object.?metadata.?annotations`
	celOldAnnotations = `oldObject.?metadata.?annotations`
	celStrategy       = `object.?spec.?strategy.orValue("")`
	celOldStrategy    = `oldObject.?spec.?strategy.orValue("")`
	celName           = `object.?metadata.?name.orValue("")`
	celNamespacedName = `(request.namespace + "/" + ` + celName + `)`
)

// contestCondition is true for a write that gives the Lease a new holder.
const contestCondition = celHolder + ` != "" && ` + celHolder + ` != ` + celOldHolder

// steppingDownCondition is true for a write that keeps a holder who was told to
// step down. The order is read from the Lease as it was, so that the holder
// cannot leave it out.
var steppingDownCondition = fmt.Sprintf("%s != \"\" && %s[?%q].orValue(\"\") == %s",
	celHolder, celOldAnnotations, v1alpha1.StepDownAnnotation, celOldHolder)

// ruledCondition is true for the writes that the validating half rules on:
// those that give the Lease a new holder, those that keep a holder who was told
// to step down, those that keep its holder (or keep it vacant) and change an
// annotation of ours, and those that leave the election to another strategy of
// coordinated election. Any other release is never true.
var ruledCondition = celStrategy + " != " + celOldStrategy + " || (" +
	celHolder + " != " + celOldHolder + " ? " + celHolder + ` != "" : ` +
	"(" + steppingDownCondition + ") || " + annotationCondition() + ")"

// annotationCondition names the annotations one by one: a CEL macro that looks
// at all annotations takes time quadratic in their number in the API server, and
// a write may carry 50,000 of them.
func annotationCondition() string {
	var changes []string
	for _, key := range v1alpha1.LeaseAnnotations {
		changes = append(changes, fmt.Sprintf("%s[?%q] != %s[?%q]", celAnnotations, key, celOldAnnotations, key))
	}
	return strings.Join(changes, " || ")
}

// matchCondition joins the parts of one entry's condition. The API server
// evaluates all conditions of an entry before it looks at one of them, so there
// is one, with the part first that is cheap and false for renewals.
func matchCondition(write, governed string) string {
	return "(" + write + ") && (" + governed + ")"
}

// maxGovernedBytes bounds one governed condition. The API server's CEL parser
// takes no expression of more than 100,000 characters.
const maxGovernedBytes = 40_000

// governedConditions compiles Lease names, in which * stands for any run of
// characters, into conditions on subject that are true for them. There are
// several if one would be too long; a Lease may match more than one of them.
func governedConditions(subject string, names []string) []string {
	var conditions []string
	var exact, globs []string
	size := 0
	flush := func() {
		if size > 0 {
			conditions = append(conditions, governedCondition(subject, exact, globs))
		}
		exact, globs, size = nil, nil, 0
	}
	for _, name := range names {
		item, list := strconv.QuoteToASCII(name), &exact
		if strings.Contains(name, "*") {
			item, list = globExpression(name), &globs
		}
		// A backslash of the expression is two in the literal.
		cost := len(item) + strings.Count(item, `\`) + len(", ")
		if size+cost > maxGovernedBytes {
			flush()
		}
		*list, size = append(*list, item), size+cost
	}
	flush()
	return conditions
}

func governedCondition(subject string, exact, globs []string) string {
	var parts []string
	if len(exact) > 0 {
		parts = append(parts, subject+" in ["+strings.Join(exact, ", ")+"]")
	}
	if len(globs) > 0 {
		parts = append(parts, subject+".matches("+strconv.QuoteToASCII("^(?:"+strings.Join(globs, "|")+")$")+")")
	}
	return strings.Join(parts, " || ")
}

// globExpression is the RE2 expression of a name with stars.
func globExpression(name string) string {
	parts := strings.Split(name, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return strings.Join(parts, ".*")
}
