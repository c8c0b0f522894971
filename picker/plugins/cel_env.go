package plugins

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// celCompatibility is the Kubernetes release whose CEL libraries expressions
// may use. It is fixed here, not taken from the modules that happen to be
// linked in, so that an expression means the same after an update of those.
var celCompatibility = version.MajorMinor(1, 37)

// celEnv is Kubernetes' environment with the variables candidate, lease and
// now. It takes a few milliseconds to make, and is the same for all policies.
var celEnv = sync.OnceValue(func() *cel.Env {
	base := environment.MustBaseEnvSet(celCompatibility)
	provider := &typeProvider{Provider: base.NewExpressionsEnv().CELTypeProvider()}
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: celCompatibility,
		EnvOptions: []cel.EnvOption{
			cel.CustomTypeProvider(provider),
			cel.Variable("candidate", candidateType),
			cel.Variable("lease", leaseType),
			cel.Variable("now", cel.TimestampType),
		},
	})
	if err != nil {
		panic("the CEL environment is misconfigured: " + err.Error())
	}
	return set.NewExpressionsEnv()
})

// typeProvider adds the types of our variables to those of Kubernetes.
type typeProvider struct{ types.Provider }

// FindStructType implements types.Provider.
func (p *typeProvider) FindStructType(name string) (*types.Type, bool) {
	if o := objects[name]; o != nil {
		return types.NewTypeTypeWithParam(o.celType), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *typeProvider) FindStructFieldNames(name string) ([]string, bool) {
	if o := objects[name]; o != nil {
		return o.fieldNames(), true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (p *typeProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if o := objects[name]; o != nil {
		f, ok := o.fields[field]
		return f, ok
	}
	return p.Provider.FindStructFieldType(name, field)
}
