package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/go-faster/jx"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/customfield"
	"chairside/ent/customfieldanswer"
	"chairside/ent/predicate"
	"chairside/internal/apierror"
	"chairside/internal/entx"
	"chairside/internal/entx/rowscan"
	"chairside/ogent"
	"chairside/schema"
)

// patientCustomFields returns the custom_fields of each patient, in the order of ids.
func patientCustomFields(ctx context.Context, c *ent.Client, ids []int64) ([][]ogent.CustomFieldEntry, error) {
	return entries(ctx, c, schema.CustomizesPatient, ids, customfieldanswer.FieldPatientID,
		c.CustomFieldAnswer.Query().Where(entx.InArray[predicate.CustomFieldAnswer](customfieldanswer.FieldPatientID, ids), customfieldanswer.TreatmentPlanItemIDIsNil()))
}

// treatmentPlanItemCustomFields returns the custom_fields of each item, in the order of ids.
func treatmentPlanItemCustomFields(ctx context.Context, c *ent.Client, ids []int64) ([][]ogent.CustomFieldEntry, error) {
	return entries(ctx, c, schema.CustomizesTreatment, ids, customfieldanswer.FieldTreatmentPlanItemID,
		c.CustomFieldAnswer.Query().Where(entx.InArray[predicate.CustomFieldAnswer](customfieldanswer.FieldTreatmentPlanItemID, ids)))
}

// question is a custom field that takes an answer.
type question struct {
	id       uuid.UUID
	kind     schema.QuestionType
	position int
	active   bool
}

// answer is an owner's answer to a question.
type answer struct {
	question uuid.UUID
	owner    int64
	text     string
}

// entries returns, for each owner, an entry for every active question of a screen and every
// inactive one with an answer, in order of position. q finds the answers; column is the
// column with their owner's id.
func entries(ctx context.Context, c *ent.Client, on schema.Customizable, owners []int64, column string, q *ent.CustomFieldAnswerQuery) ([][]ogent.CustomFieldEntry, error) {
	all := make([][]ogent.CustomFieldEntry, len(owners))
	if len(owners) == 0 {
		return all, nil
	}
	questions, answers, err := questionsAndAnswers(ctx, c, on, column, q)
	if err != nil || len(questions) == 0 {
		return all, err
	}
	// A table of all owners and questions, without answers at first.
	n := len(questions)
	table := make([]ogent.CustomFieldEntry, len(owners)*n)
	for i := range table {
		table[i] = ogent.CustomFieldEntry{FieldID: questions[i%n].id, Position: questions[i%n].position}
	}
	at := positions(owners)
	for _, answer := range answers {
		for i, question := range questions {
			if question.id == answer.question {
				table[at[answer.owner]*n+i].Value = answerJSON(question.kind, answer.text)
			}
		}
	}
	for o := range owners {
		entries := table[o*n : o*n : (o+1)*n] // of this owner, filtered in place
		for i, entry := range table[o*n : (o+1)*n] {
			switch {
			case entry.Value != nil:
			case questions[i].active:
				entry.Value = unanswered
			default:
				continue
			}
			entries = append(entries, entry)
		}
		all[o] = entries
	}
	return all, nil
}

// questionsAndAnswers reads, in one statement, the questions of a screen, in order, and the
// answers that q finds. Answers are audited under their owners.
func questionsAndAnswers(ctx context.Context, c *ent.Client, on schema.Customizable, column string, q *ent.CustomFieldAnswerQuery) (questions []question, answers []answer, err error) {
	asked := c.CustomField.Query().Where(customfield.CustomizableTypeEQ(on), customfield.TypeNotIn(schema.QuestionTitle, schema.QuestionSpacer))
	rows, err := c.UnionAll(ctx,
		entx.Part{Query: asked, Columns: rowscan.Columns(customfield.Table,
			customfield.FieldID, customfield.FieldType, customfield.FieldPosition, customfield.FieldActive)},
		entx.Part{Query: q, Columns: rowscan.Columns(customfieldanswer.Table,
			customfieldanswer.FieldCustomFieldID, customfieldanswer.FieldValue, column) + ", NULL"})
	if err != nil {
		return nil, nil, err
	}
	err = rowscan.ForEach(rows, 4, func(r *rowscan.Scanner) {
		if r.Null(3) { // an answer, because a question's active is never NULL
			answers = append(answers, answer{r.UUID(0), r.Int64(2), r.Text(1)})
			return
		}
		questions = append(questions, question{r.UUID(0), schema.QuestionType(r.Text(1)), r.Int(2), r.Bool(3)})
	})
	slices.SortFunc(questions, func(a, b question) int {
		return cmp.Or(cmp.Compare(a.position, b.position), bytes.Compare(a.id[:], b.id[:]))
	})
	return questions, answers, err
}

var unanswered = jx.Raw("null")

// positions maps ids to their positions.
func positions(ids []int64) map[int64]int {
	at := make(map[int64]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	return at
}

// answerJSON returns an answer as JSON: a boolean for a checkbox, else a string.
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
func readAnswers(ctx context.Context, c *ent.Client, sent []ogent.CustomFieldAnswerInput, problems apierror.Params) (answersToSave, error) {
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

// answerText returns the stored form of an answer, or a message.
func answerText(f *ent.CustomField, value jx.Raw) (text, message string) {
	if err := json.Unmarshal(value, &text); err != nil {
		text = string(value) // a number or a boolean
		if f.Type != schema.QuestionCheckbox && f.Type != schema.QuestionNumber {
			return "", "must be a string"
		}
	}
	return schema.ReadAnswer(f.Type, f.Options, text)
}

// save writes the answers of a patient that differ from the stored ones and reports whether
// any did.
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
