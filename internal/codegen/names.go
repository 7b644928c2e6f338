package codegen

import (
	"fmt"
	"text/template"

	ogengen "github.com/ogen-go/ogen/gen"
	"github.com/ogen-go/ogen/gen/ir"
)

// goNames looks up the Go names that ogen has chosen, so that its naming rules are not repeated
// here.
type goNames struct{ *ogengen.Generator }

// funcs returns the functions of the templates.
func (g goNames) funcs() template.FuncMap {
	return template.FuncMap{"member": g.member, "member_type": g.memberType, "method": g.method}
}

// member returns the Go name of a JSON member of an ogen type.
func (g goNames) member(typ, json string) (string, error) {
	f, err := g.field(typ, json)
	if err != nil {
		return "", err
	}
	return f.Name, nil
}

// memberType returns the Go type of a JSON member of an ogen type.
func (g goNames) memberType(typ, json string) (string, error) {
	f, err := g.field(typ, json)
	if err != nil {
		return "", err
	}
	return f.Type.Go(), nil
}

// param returns the Go name of a query parameter of an operation.
func (g goNames) param(operation, name string) (string, error) {
	for _, o := range g.Operations() {
		if o.Spec.OperationID != operation {
			continue
		}
		for _, p := range o.Params {
			if p.Spec.Name == name {
				return p.Name, nil
			}
		}
	}
	return "", fmt.Errorf("ogen operation %s has no parameter %s", operation, name)
}

// method returns the Go name of an operation.
func (g goNames) method(operation string) (string, error) {
	for _, o := range g.Operations() {
		if o.Spec.OperationID == operation {
			return o.Name, nil
		}
	}
	return "", fmt.Errorf("ogen has no operation %s", operation)
}

func (g goNames) field(typ, json string) (*ir.Field, error) {
	if t, ok := g.Types()[typ]; ok {
		for _, f := range t.Fields {
			if f.Tag.JSON == json {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("ogen type %s has no member %s", typ, json)
}
