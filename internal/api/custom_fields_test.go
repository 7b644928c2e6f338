package api_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/customfield"
	"chairside/ent/customfieldanswer"
	"chairside/internal/entx"
	stored "chairside/internal/entx/rowscan"
	"chairside/internal/test/harness"
	"chairside/schema"
)

// ask adds a question to a screen of a practice.
func ask(t *testing.T, e *harness.Env, practice string, on schema.Customizable, kind schema.QuestionType, options ...string) (id uuid.UUID) {
	t.Helper()
	ctx := e.As(t, practice)
	e.Tx(t, ctx, func(tx *ent.Client) error {
		var choices []schema.Option
		for i, name := range options {
			choices = append(choices, schema.Option{Name: name, Position: i + 1})
		}
		f, err := tx.CustomField.Create().SetName("Question of " + string(kind)).SetCustomizableType(on).SetType(kind).SetPosition(900).SetOptions(choices).Save(ctx)
		if err == nil {
			id = f.ID
		}
		return err
	})
	return id
}

// answer returns an entry of custom_fields in a request.
func answer(field, value any) row { return row{"field_id": field, "value": value} }

// answerIn returns the value of a question in a response; there is false if the question is
// not listed.
func answerIn(t *testing.T, r *harness.Response, field uuid.UUID) (value any, there bool) {
	t.Helper()
	for _, entry := range r.List(t, "patient.custom_fields") {
		if entry.(row)["field_id"] == field.String() {
			return entry.(row)["value"], true
		}
	}
	return nil, false
}

// TestCustomFieldAnswersByType: a boolean for a checkbox, a decimal string for a number, else
// a string; null if unanswered.
func TestCustomFieldAnswersByType(t *testing.T) {
	cases := []struct {
		kind schema.QuestionType
		good [][2]any // sent and returned
		bad  []any
	}{
		{schema.QuestionCheckbox, [][2]any{{true, true}, {false, false}, {"true", true}}, []any{"yes", 2, row{}, []int{}, ""}},
		{schema.QuestionNumber, [][2]any{{5, "5.00"}, {"12.5", "12.50"}, {-0.25, "-0.25"}}, []any{"five", 1.234, true, "1e3", row{}, ""}},
		{schema.QuestionText, [][2]any{{"Ω & <b>", "Ω & <b>"}, {"", ""}}, []any{5, true, row{}, []int{}, "a\x00"}},
		{schema.QuestionTextarea, [][2]any{{"two\nlines", "two\nlines"}}, []any{5, false}},
		{schema.QuestionEnum, [][2]any{{"Often", "Often"}, {"Never", "Never"}}, []any{"often", "Sometimes", 1, true}},
		{schema.QuestionTitle, nil, []any{"x", true, null}},
		{schema.QuestionSpacer, nil, []any{"x", null}},
	}
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		for _, c := range cases {
			field := ask(t, e, "demo", schema.CustomizesPatient, c.kind, "Never", "Often")
			path := patientPath(t, rawRegister(t, e, token).Status(t, 201))
			if v, there := answerIn(t, e.Get(t, path, token), field); v != nil || there != c.kind.Asks() {
				t.Errorf("%s: unanswered, got %v (%v)", c.kind, v, there)
			}
			for _, good := range c.good {
				sent := row{"custom_fields": []row{answer(field, good[0])}}
				if v, _ := answerIn(t, rawRegister(t, e, token, sent).Status(t, 201), field); v != good[1] {
					t.Errorf("%s: %#v is answered on create as %#v, want %#v", c.kind, good[0], v, good[1])
				}
				e.Clock.Advance(time.Minute)
				res := e.Patch(t, path, token, edit("patient", sent)).Status(t, 200)
				if v, _ := answerIn(t, res, field); v != good[1] || res.At(t, "patient.updated_at") != shown(e.Clock.Now()) {
					t.Errorf("%s: updated with %#v, got %s", c.kind, good[0], res.Raw)
				}
				if read := e.Get(t, path, token); string(read.Raw) != string(res.Raw) {
					t.Errorf("%s: wrote %s, read %s", c.kind, res.Raw, read.Raw)
				}
			}
			for _, bad := range c.bad {
				e.Patch(t, path, token, edit("patient", row{"custom_fields": []row{answer(field, bad)}})).Error(t, 422, "validation_failed", "custom_fields")
				rawRegister(t, e, token, row{"custom_fields": []row{answer(field, bad)}, "title": "x"}).Error(t, 422, "validation_failed", "custom_fields", "title")
			}
			if !c.kind.Asks() {
				continue
			}
			for _, none := range []row{answer(field, null), {"field_id": field}, answer(field, null)} {
				if v, there := answerIn(t, e.Patch(t, path, token, edit("patient", row{"custom_fields": []row{none}})).Status(t, 200), field); v != nil || !there {
					t.Errorf("%s: removed, got %v", c.kind, v)
				}
			}
		}
	})
}

// TestCustomFieldAnswersAreAuditedByPatient: not by themselves.
func TestCustomFieldAnswersAreAuditedByPatient(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		field := ask(t, e, "demo", schema.CustomizesPatient, schema.QuestionText)
		created := rawRegister(t, e, token, row{"custom_fields": []row{answer(field, "one")}}).Status(t, 201)
		path, id := patientPath(t, created), created.Text(t, "patient.id")
		for name, r := range map[string]*harness.Response{
			"create": created,
			"edit":   e.Patch(t, path, token, edit("patient", row{"custom_fields": []row{answer(field, "two")}})).Status(t, 200),
			"get":    e.Get(t, path, token).Status(t, 200),
			"list":   e.Get(t, "/v1/patients?sort_by=created_at&sort_direction=desc&per_page=1", token).Status(t, 200),
		} {
			read := audited(t, e, r)
			if resources := slices.Sorted(maps.Keys(read)); !slices.Equal(resources, []string{"accounts", "patients"}) || !slices.Equal(read["patients"], []string{id}) {
				t.Errorf("%s: %v is audited, want patient %s and the account", name, read, id)
			}
		}
	})
}

// TestUnsentAnswersStay: and the last of two answers to a question counts.
func TestUnsentAnswersStay(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		a, b := ask(t, e, "demo", schema.CustomizesPatient, schema.QuestionText), ask(t, e, "demo", schema.CustomizesPatient, schema.QuestionText)
		path := patientPath(t, rawRegister(t, e, token, row{"custom_fields": []row{answer(a, "one"), answer(b, "two")}}).Status(t, 201))
		for _, step := range []struct {
			sent any
			a, b any
		}{
			{[]row{}, "one", "two"}, {null, "one", "two"}, {[]row{answer(a, "1")}, "1", "two"}, {[]row{answer(b, null)}, "1", nil}, {[]row{answer(b, "x"), answer(b, "2")}, "1", "2"},
		} {
			res := e.Patch(t, path, token, edit("patient", row{"custom_fields": step.sent})).Status(t, 200)
			gotA, _ := answerIn(t, res, a)
			gotB, _ := answerIn(t, res, b)
			if gotA != step.a || gotB != step.b {
				t.Errorf("%v: got %v and %v", step.sent, gotA, gotB)
			}
		}
		old := e.Get(t, path, token)
		e.Clock.Advance(time.Minute)
		if same := e.Patch(t, path, token, edit("patient", row{"custom_fields": []row{answer(a, "1")}})).Status(t, 200); string(same.Raw) != string(old.Raw) {
			t.Errorf("the same answer changed the patient: %s", same.Raw)
		}
	})
}

// TestAnswersToUnknownQuestionsAreRefused: unknown ones, those of the other screen, and those
// of the other practice.
func TestAnswersToUnknownQuestionsAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		path := patientPath(t, rawRegister(t, e, token).Status(t, 201))
		for _, field := range []any{
			uuid.New(), uuid.Nil, ask(t, e, "demo", schema.CustomizesTreatment, schema.QuestionText), ask(t, e, "second", schema.CustomizesPatient, schema.QuestionText), "x", 5, null,
		} {
			for _, value := range []any{"x", null} {
				e.Patch(t, path, token, edit("patient", row{"custom_fields": []row{answer(field, value)}})).Error(t, 422, "validation_failed", "custom_fields")
			}
		}
		for _, malformed := range []any{"x", 5, row{}, []string{"x"}, []row{{}}, []row{{"value": "x"}}} {
			e.Patch(t, path, token, edit("patient", row{"custom_fields": malformed})).Error(t, 422, "validation_failed", "custom_fields")
		}
	})
}

// TestAnswersAreListedByPosition: an inactive question is listed only if it has an answer.
func TestAnswersAreListedByPosition(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		field := ask(t, e, "demo", schema.CustomizesPatient, schema.QuestionText)
		with := patientPath(t, rawRegister(t, e, token, row{"custom_fields": []row{answer(field, "stays")}}).Status(t, 201))
		without := patientPath(t, rawRegister(t, e, token).Status(t, 201))
		ctx := e.As(t, "demo")
		e.Tx(t, ctx, func(tx *ent.Client) error {
			return tx.CustomField.UpdateOneID(field).SetActive(false).SetPosition(-1).Exec(ctx)
		})
		res := e.Get(t, with, token)
		if v, _ := answerIn(t, res, field); v != "stays" || res.At(t, "patient.custom_fields.0.field_id") != field.String() {
			t.Errorf("got %s", res.Raw)
		}
		if _, there := answerIn(t, e.Get(t, without, token), field); there {
			t.Error("an inactive question without an answer is listed")
		}
		questions := map[any]row{}
		w := newWorld(t, e)
		for _, q := range w.all(t, "custom_fields", "custom_fields", nil) {
			questions[q["id"]] = q
		}
		practice := e.Get(t, "/v1/practice", token).At(t, "practice.id")
		for _, p := range w.all(t, "patients", "patients", nil) {
			last := int64(-2)
			for _, entry := range p["custom_fields"].([]any) {
				found := entry.(row)
				q := questions[found["field_id"]]
				if q["customizable_type"] != "Patient" || q["customizable_id"] != practice || !reflect.DeepEqual(found["position"], q["position"]) || number(found["position"]) < last {
					t.Errorf("%v answers %v, after position %d", found, q, last)
				}
				last = number(found["position"])
				_, isBool := found["value"].(bool)
				if found["value"] != nil && isBool != (q["type"] == "checkbox") || q["type"] == "number" && !fits(e, "decimal?", found["value"]) {
					t.Errorf("%v answers a %v", found["value"], q["type"])
				}
			}
		}
	})
}

// TestUnionAllIsConfined: each query sees only the caller's practice, and nothing without a
// caller.
func TestUnionAllIsConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		read := func(ctx context.Context) (practices []uuid.UUID, err error) {
			rows, err := e.DB.Ent.UnionAll(ctx,
				entx.Part{Query: e.DB.Ent.CustomField.Query(), Columns: stored.Columns(customfield.Table, customfield.FieldPracticeID)},
				entx.Part{Query: e.DB.Ent.CustomFieldAnswer.Query(), Columns: stored.Columns(customfieldanswer.Table, customfieldanswer.FieldPracticeID)})
			if err != nil {
				return nil, err
			}
			return practices, stored.ForEach(rows, 1, func(r *stored.Scanner) { practices = append(practices, r.UUID(0)) })
		}
		for _, practice := range []string{"demo", "second"} {
			ask(t, e, practice, schema.CustomizesPatient, schema.QuestionText)
			ctx := e.As(t, practice)
			own, err := e.DB.Ent.CustomField.Query().Select(customfield.FieldPracticeID).First(ctx)
			if err != nil {
				t.Fatal(err)
			}
			practices, err := read(ctx)
			if err != nil || len(practices) == 0 {
				t.Fatalf("%d rows, %v", len(practices), err)
			}
			for _, id := range practices {
				if id != own.PracticeID {
					t.Errorf("%s sees a row of practice %v", practice, id)
				}
			}
		}
		if practices, err := read(t.Context()); err == nil {
			t.Errorf("without a caller, got %d rows", len(practices))
		}
	})
}
