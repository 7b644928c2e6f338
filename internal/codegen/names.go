package codegen

import (
	"fmt"
	"text/template"

	ogengen "github.com/ogen-go/ogen/gen"
	"github.com/ogen-go/ogen/gen/ir"
)

// goNames looks up the Go names that ogen has given, so that nothing here
// guesses at its naming rules.
func goNames(g *ogengen.Generator) template.FuncMap {
	return template.FuncMap{
		// member is the Go name of a JSON member of an ogen type.
		"member": func(typ, json string) (string, error) {
			f, err := memberOf(g, typ, json)
			if err != nil {
				return "", err
			}
			return f.Name, nil
		},
		// member_type is its Go type.
		"member_type": func(typ, json string) (string, error) {
			f, err := memberOf(g, typ, json)
			if err != nil {
				return "", err
			}
			return f.Type.Go(), nil
		},
		// param is the Go name of a query parameter of an operation.
		"param": func(operation, name string) (string, error) {
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
			return "", fmt.Errorf("operation %s has no parameter %s", operation, name)
		},
		// method is the Go name of an operation.
		"method": func(operation string) (string, error) {
			for _, o := range g.Operations() {
				if o.Spec.OperationID == operation {
					return o.Name, nil
				}
			}
			return "", fmt.Errorf("there is no operation %s", operation)
		},
	}
}

func memberOf(g *ogengen.Generator, typ, json string) (*ir.Field, error) {
	if t, ok := g.Types()[typ]; ok {
		for _, f := range t.Fields {
			if f.Tag.JSON == json {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("ogen type %s has no member %s", typ, json)
}
