package contract

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"chairside/internal/test/harness"
	"chairside/ogent"
)

// TestDocumentIsValid also validates every example against its schema.
func TestDocumentIsValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(ogent.Document)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Components.Schemas {
		closeSchema(s.Value)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

// TestEveryResponseMemberIsRequired: documented members are always present, and null if
// they have no value. Only errors, and what a parameter adds, have optional members.
func TestEveryResponseMemberIsRequired(t *testing.T) {
	seen := map[*openapi3.Schema]bool{}
	var walk func(name string, s *openapi3.Schema)
	walk = func(name string, s *openapi3.Schema) {
		if seen[s] {
			return
		}
		seen[s] = true
		for member, p := range s.Properties {
			if !slices.Contains(s.Required, member) && !strings.HasPrefix(p.Value.Description, "With ") {
				t.Errorf("%s.%s is not required", name, member)
			}
			walk(name+"."+member, p.Value)
		}
		if s.Items != nil {
			walk(name+"[]", s.Items.Value)
		}
	}
	for _, op := range operations() {
		for status, response := range op.doc.Responses.Map() {
			if media := response.Value.Content.Get("application/json"); status[0] == '2' && media != nil {
				walk(op.ID, media.Schema.Value)
			}
		}
	}
}

func TestEveryOperationHasExamples(t *testing.T) {
	for _, op := range operations() {
		for status, response := range op.doc.Responses.Map() {
			if media := response.Value.Content.Get("application/json"); media != nil && media.Example == nil && len(media.Examples) == 0 {
				t.Errorf("%s: no example of %s", op, status)
			}
		}
		if op.doc.RequestBody != nil && op.doc.RequestBody.Value.Content.Get("application/json").Example == nil {
			t.Errorf("%s: no example of a body", op)
		}
	}
}

// TestResponsesConform reads every record of both practices. send validates each
// response against the document.
func TestResponsesConform(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		for slug, email := range map[string]string{"demo": "admin@demo.chairside.test", "second": "admin@second.chairside.test"} {
			w, token := loadWorld(t, e, slug), e.TokenOf(t, email, "", nil)
			for _, op := range operations() {
				if op.writes() {
					continue
				}
				q := w.request(op, 0)
				q.Token = token
				r := send(t, e, op, q).Status(t, http.StatusOK)
				if !op.lists() || op.ID == "listAvailability" {
					continue
				}
				separator := "?"
				if strings.Contains(q.Path, "?") {
					separator = "&"
				}
				base := q.Path
				for page := 1; page <= 3 && len(r.List(t, op.table())) > 0; page++ {
					q.Path = base + separator + "per_page=100&page=" + string(rune('0'+page))
					r = send(t, e, op, q).Status(t, http.StatusOK)
				}
			}
			for _, op := range operations() {
				if op.writes() || !op.one() {
					continue
				}
				for n := range min(30, len(w.ids[op.table()])) {
					q := w.request(op, n)
					q.Token = token
					send(t, e, op, q).Status(t, http.StatusOK)
				}
			}
		}
	})
}

// TestWritesConform writes all members, and as few as possible.
func TestWritesConform(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, op := range operations() {
			if op.Body == nil {
				continue
			}
			q := w.request(op, 0)
			q.Token = token
			send(t, e, op, q).Status(t, op.Success)

			least, cleared := map[string]any{}, map[string]any{}
			for _, f := range op.Body.Fields {
				switch {
				case f.Required:
					least[f.Name] = w.value(f)
				case f.Nullable:
					cleared[f.Name] = nil
				}
				if f.Name == "force_changes" {
					least[f.Name] = true
				}
			}
			if op.Body.Key == "hold" { // another slot each time
				continue
			}
			q.Body = map[string]any{op.Body.Key: least}
			send(t, e, op, q).Status(t, op.Success)
			for name, v := range least {
				cleared[name] = v
			}
			q.Body = map[string]any{op.Body.Key: cleared}
			r := send(t, e, op, q).Status(t, op.Success)
			for _, f := range op.Body.Fields {
				if f.Nullable && f.Kind != "answers" && r.Text(t, op.Body.Key+"."+f.Name) != "" {
					t.Errorf("%s: null does not clear %s", op, f.Name)
				}
			}
		}
	})
}

// TestOperationIDsOfAResourceAgree checks that the operations on one path and on its records are
// called alike, capitals included: listNHSClaims and getNHSClaim, not listNHSClaims.
func TestOperationIDsOfAResourceAgree(t *testing.T) {
	record, verb := map[string]string{}, regexp.MustCompile(`^[a-z]+`)
	checked := 0
	for _, op := range operations() {
		path, isRecord := strings.CutSuffix(op.Path, "/{id}")
		name := verb.ReplaceAllString(op.ID, "")
		if strings.Contains(path, "{") || !isRecord {
			continue
		}
		if other := record[path]; other != "" && other != name {
			t.Errorf("%s: %s, although another operation ends in %s", op, op.ID, other)
		}
		record[path] = name
	}
	for _, op := range operations() {
		name := record[op.Path]
		if name == "" {
			continue
		}
		checked++
		want := "create" + name
		if op.Method == http.MethodGet {
			want = "list" + strings.TrimSuffix(name, "y")
		}
		if !strings.HasPrefix(op.ID, want) {
			t.Errorf("%s: %s does not begin with %s", op, op.ID, want)
		}
	}
	if checked < 30 {
		t.Errorf("checked only %d operations", checked)
	}
}
