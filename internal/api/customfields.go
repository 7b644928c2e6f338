package api

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/go-faster/jx"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/customfield"
	"chairside/ent/customfieldanswer"
	"chairside/internal/decimal"
	"chairside/internal/fault"
	"chairside/ogent"
	"chairside/schema"
)

// longestAnswer is in bytes; a request is never longer than 1 MiB.
const longestAnswer = 65535

// patientAnswers gives the custom_fields of each patient.
func patientAnswers(ctx context.Context, c *ent.Client, patients []*ent.Patient) (map[int64][]ogent.CustomFieldEntry, error) {
	ids := make([]int64, len(patients))
	for i, p := range patients {
		ids[i] = p.ID
	}
	return entries(ctx, c, schema.CustomizesPatient, ids,
		c.CustomFieldAnswer.Query().Where(customfieldanswer.PatientIDIn(ids...), customfieldanswer.TreatmentPlanItemIDIsNil()),
		func(a *ent.CustomFieldAnswer) int64 { return a.PatientID })
}

// itemAnswers gives the custom_fields of each treatment plan item.
func itemAnswers(ctx context.Context, c *ent.Client, items []*ent.TreatmentPlanItem) (map[int64][]ogent.CustomFieldEntry, error) {
	ids := make([]int64, len(items))
	for i, p := range items {
		ids[i] = p.ID
	}
	return entries(ctx, c, schema.CustomizesTreatment, ids,
		c.CustomFieldAnswer.Query().Where(customfieldanswer.TreatmentPlanItemIDIn(ids...)),
		func(a *ent.CustomFieldAnswer) int64 { return *a.TreatmentPlanItemID })
}

// entries lists, for each owner, every question that is asked on the screen and
// every further one that has an answer, in order of position.
func entries(ctx context.Context, c *ent.Client, on schema.Customizable, owners []int64, q *ent.CustomFieldAnswerQuery, owner func(*ent.CustomFieldAnswer) int64) (map[int64][]ogent.CustomFieldEntry, error) {
	all := make(map[int64][]ogent.CustomFieldEntry, len(owners))
	for _, id := range owners {
		all[id] = []ogent.CustomFieldEntry{}
	}
	if len(owners) == 0 {
		return all, nil
	}
	fields, err := c.CustomField.Query().Where(
		customfield.CustomizableTypeEQ(on), customfield.TypeNotIn(schema.QuestionTitle, schema.QuestionSpacer),
	).Order(customfield.ByPosition(), customfield.ByID()).All(ctx)
	if err != nil || len(fields) == 0 {
		return all, err
	}
	answers, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	type place struct {
		owner int64
		field uuid.UUID
	}
	given := make(map[place]string, len(answers))
	for _, a := range answers {
		given[place{owner(a), a.CustomFieldID}] = a.Value
	}
	for _, id := range owners {
		for _, f := range fields {
			value, answered := given[place{id, f.ID}]
			if !f.Active && !answered {
				continue
			}
			shown := jx.Raw("null")
			if answered {
				shown = answerJSON(f.Type, value)
			}
			all[id] = append(all[id], ogent.CustomFieldEntry{FieldID: f.ID, Value: shown, Position: f.Position})
		}
	}
	return all, nil
}

// answerJSON is a boolean for a checkbox, a string for everything else.
func answerJSON(t schema.QuestionType, value string) jx.Raw {
	if t == schema.QuestionCheckbox && (value == "true" || value == "false") {
		return jx.Raw(value)
	}
	b, _ := json.Marshal(value) // a string always marshals
	return b
}

// answersToSave maps a question to the text of its answer, nil to remove it.
type answersToSave map[uuid.UUID]*string

// readAnswers checks the answers of a request against their questions.
func readAnswers(ctx context.Context, c *ent.Client, sent []ogent.CustomFieldAnswerInput, problems fault.Params) (answersToSave, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	fields, err := c.CustomField.Query().Where(customfield.CustomizableTypeEQ(schema.CustomizesPatient)).All(ctx)
	if err != nil {
		return nil, err
	}
	answers := answersToSave{}
	for _, s := range sent {
		i := slices.IndexFunc(fields, func(f *ent.CustomField) bool { return f.ID == s.FieldID && f.Type.Asks() })
		if i < 0 {
			problems.Add("custom_fields", "includes a field that does not exist")
			continue
		}
		if string(s.Value) == "null" {
			answers[s.FieldID] = nil
			continue
		}
		text, message := answerText(fields[i], s.Value)
		if message != "" {
			problems.Add("custom_fields", fields[i].Name+" "+message)
			continue
		}
		answers[s.FieldID] = &text
	}
	return answers, nil
}

// answerText is the stored form of an answer, or a message.
func answerText(f *ent.CustomField, value jx.Raw) (text, message string) {
	if err := json.Unmarshal(value, &text); err != nil {
		text = string(value) // a number or a boolean
		if f.Type != schema.QuestionCheckbox && f.Type != schema.QuestionNumber {
			return "", "must be a string"
		}
	}
	switch {
	case len(text) > longestAnswer:
		return "", "is too long"
	case f.Type == schema.QuestionCheckbox && text != "true" && text != "false":
		return "", "must be true or false"
	case f.Type == schema.QuestionNumber:
		d, err := decimal.Parse(text)
		if err != nil {
			return "", err.Error()
		}
		return d.String(), ""
	case f.Type == schema.QuestionEnum && len(f.Options) > 0 &&
		!slices.ContainsFunc(f.Options, func(o schema.Option) bool { return o.Name == text }):
		return "", "must be one of its options"
	}
	return text, ""
}

// save writes the answers of a patient that differ from what is stored, and
// reports whether any did.
func (a answersToSave) save(ctx context.Context, tx *ent.Client, patient int64) (changed bool, err error) {
	if len(a) == 0 {
		return false, nil
	}
	stored, err := tx.CustomFieldAnswer.Query().Where(customfieldanswer.PatientID(patient), customfieldanswer.TreatmentPlanItemIDIsNil()).All(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range stored {
		text, sent := a[s.CustomFieldID]
		delete(a, s.CustomFieldID)
		switch {
		case !sent || text != nil && *text == s.Value:
			continue
		case text == nil:
			err = tx.CustomFieldAnswer.DeleteOne(s).Exec(ctx)
		default:
			err = tx.CustomFieldAnswer.UpdateOne(s).SetValue(*text).Exec(ctx)
		}
		if err != nil {
			return false, err
		}
		changed = true
	}
	for field, text := range a {
		if text == nil {
			continue
		}
		if err := tx.CustomFieldAnswer.Create().SetCustomFieldID(field).SetPatientID(patient).SetValue(*text).Exec(ctx); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}
