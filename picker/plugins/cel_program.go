package plugins

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
)

// filterTypes and scoreTypes are what an expression may give.
var (
	filterTypes = []*cel.Type{cel.BoolType}
	scoreTypes  = []*cel.Type{cel.IntType, cel.UintType, cel.DoubleType, cel.BoolType}
)

// maxIssues bounds how many problems of an expression are reported.
const maxIssues = 3

// program is a compiled expression. Several goroutines may evaluate it.
type program struct{ cel.Program }

// compileCEL compiles an expression that gives one of the wanted types. The
// error says what is wrong with the expression, and where.
func compileCEL(expression string, wanted []*cel.Type) (program, error) {
	if len(expression) > maxExpression {
		return program{}, fmt.Errorf("is longer than %d bytes", maxExpression)
	}
	env := celEnv()
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return program{}, oneLine(issues)
	}
	if !slices.ContainsFunc(wanted, ast.OutputType().IsExactType) {
		return program{}, fmt.Errorf("must give %s, gives %s", oneOfTypes(wanted), ast.OutputType())
	}
	if err := checkCost(env, ast); err != nil {
		return program{}, err
	}
	p, err := env.Program(ast, cel.CostLimit(maxCost))
	if err != nil {
		return program{}, errors.New(shortened(err.Error()))
	}
	return program{p}, nil
}

func oneOfTypes(wanted []*cel.Type) string {
	text := wanted[0].String()
	for i, t := range wanted[1:] {
		separator := ", "
		if i == len(wanted)-2 {
			separator = " or "
		}
		text += separator + t.String()
	}
	return text
}

// oneLine is the first problems of an expression with their line and column.
func oneLine(issues *cel.Issues) error {
	var text []string
	for _, e := range issues.Errors()[:min(len(issues.Errors()), maxIssues)] {
		text = append(text, fmt.Sprintf("%d:%d: %s", e.Location.Line(), e.Location.Column()+1, shortened(e.Message)))
	}
	return errors.New(strings.Join(text, "; "))
}
