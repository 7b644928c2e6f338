package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"chairside/internal/codec"
	"chairside/ogent"
)

// TestFeedParametersAreDocumented compares the parameters of /changes and /snapshot, which are
// written by hand, with the document.
func TestFeedParametersAreDocumented(t *testing.T) {
	var document struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name, In, Description string
					Schema                struct {
						Minimum, Maximum *int64
						Enum             []string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(ogent.Document, &document); err != nil {
		t.Fatal(err)
	}
	for path, params := range map[string][]codec.Param{changesPath: changesParams, snapshotPath: snapshotParams} {
		documented := document.Paths[path].Get.Parameters
		if n := len(documented) - 1; n > 0 && documented[n].In == "" {
			documented = documented[:n] // If-None-Match, which all reads have that have a tag
		}
		if len(documented) != len(params) {
			t.Errorf("%s: %d parameters are documented, the server has %d", path, len(documented), len(params))
		}
		for _, d := range documented {
			i := slices.IndexFunc(params, func(p codec.Param) bool { return p.Name == d.Name })
			if i < 0 || d.In != "query" {
				t.Errorf("%s: the server does not have %s", path, d.Name)
				continue
			}
			p := params[i]
			if d.Schema.Maximum != nil && (*d.Schema.Minimum != p.Min || *d.Schema.Maximum != p.Max) {
				t.Errorf("%s: %s is documented from %d to %d, the server takes %d to %d", path, d.Name, *d.Schema.Minimum, *d.Schema.Maximum, p.Min, p.Max)
			}
			for _, value := range p.Values {
				if !slices.Contains(d.Schema.Enum, value) && !strings.Contains(d.Description, value) {
					t.Errorf("%s: %s may be %q, which is not documented", path, d.Name, value)
				}
			}
		}
	}
}
