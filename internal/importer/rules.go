package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// rules are the rules of each table that concern several columns. They check what the API checks
// when a client writes, and set columns that the program keeps consistent itself.
var rules = map[string]func(b *batch, r *record){
	"appointments":         (*batch).ruleForAppointment,
	"contracts":            (*batch).ruleForContract,
	"custom_field_answers": (*batch).ruleForAnswer,
	"invoice_items":        (*batch).ruleForInvoiceItem,
	"invoices":             (*batch).ruleForInvoice,
	"patients":             (*batch).ruleForPatient,
	"payments":             (*batch).ruleForPayment,
	"recalls":              (*batch).ruleForRecall,
	"treatment_plan_items": (*batch).ruleForTreatment,
	"treatment_plans":      (*batch).setCompletion,
	"users":                (*batch).ruleForUser,
	"waiting_lists":        (*batch).ruleForWaiting,
	"working_sessions":     (*batch).ruleForWorkingSession,
}

// applyRules sets the columns of records that files leave out, and rejects records that break a
// rule.
func (b *batch) applyRules() {
	e := b.plan.entity
	switch e.Name {
	case explanationTable:
		b.checkExplanations()
	case "appointments", "waiting_lists":
		b.readReasons()
	}
	for _, r := range b.records {
		if rule := rules[e.Name]; rule != nil {
			rule(b, r)
		}
		if !r.derived || r.existing != nil {
			b.derive(e, r)
		}
		b.setDefaults(r)
	}
}

// derive sets the columns that schema derives from others of the row, such as search texts.
func (im *importer) derive(e *entity, r *record) {
	im.hashSealed(e, r)
	schema.Derive(e.derived, im.practice.country, r.text, func(column, s string) {
		r.values[column] = s
		if s == "" && e.Column(column).Null {
			r.values[column] = nil
		}
	})
}

// setDefaults sets the defaults of columns. It rejects the record if a required one is still
// null, or if a value is outside the limits of its column.
func (b *batch) setDefaults(r *record) {
	e := b.plan.entity
	for i := range e.Columns {
		c := &e.Columns[i]
		switch {
		case c.Name == "id" || c.Name == "practice_id" || c.Name == "updated_at" || c.Null:
		case c.Name == "created_at":
			r.setDefault(c.Name, b.now)
		case r.get(c.Name) != nil:
		case c.Stored == table.JSON:
			r.values[c.Name] = emptyDocument(c)
		case c.Initial != nil:
			r.values[c.Name] = c.Initial
		case !r.hasProblem(c.Name):
			r.reject(c.Name, "is missing")
		}
		if v, ok := r.values[c.Name]; ok && c.Limit != nil && !c.IsSealed() && !r.hasProblem(c.Name) {
			r.rejectIf(c.Name, c.Limit.Check(v))
		}
	}
}

func (r *record) hasProblem(field string) bool {
	return slices.ContainsFunc(r.problems, func(p problem) bool { return p.field == field })
}

// ruleForUser keeps administrators administrators, whatever they were in the other system.
// Otherwise an import could lock everybody out.
func (b *batch) ruleForUser(r *record) {
	administrator := string(schema.RoleAdministrator)
	if r.existing["role"] != administrator || r.text("role") == administrator && r.boolean("active") {
		return
	}
	delete(r.values, "role")
	delete(r.values, "active")
	r.warn("role", "stays administrator; an import cannot change that")
}

func (b *batch) ruleForWorkingSession(r *record) {
	if r.integer("finish_minute") <= r.integer("start_minute") {
		r.reject("finish_minute", "must be after start_minute")
	}
}

func (b *batch) ruleForContract(r *record) {
	if end := r.text("end_date"); end != "" && end < r.text("start_date") {
		r.reject("end_date", "must not be before start_date")
	}
}

// ruleForRecall sets when a patient was contacted. If the file does not say so, it is when the
// recall was created, or else now.
func (b *batch) ruleForRecall(r *record) {
	if r.text("status") != string(schema.RecallContacted) || r.get("contacted_at") != nil {
		return
	}
	r.values["contacted_at"] = b.now
	if created := r.time("created_at"); !created.IsZero() {
		r.values["contacted_at"] = created
	}
}

func (b *batch) ruleForWaiting(r *record) {
	b.checkReason(r, "appointment_reason")
	if to := r.text("to_date"); to != "" && to < r.text("from_date") {
		r.reject("to_date", "must not be before from_date")
	}
}

func (b *batch) ruleForTreatment(r *record) {
	b.setCompletion(r)
	r.values["charged"] = r.get("invoice_id") != nil
}

// setCompletion makes completed and completed_at consistent. If the file only says that the
// record is completed, the time is that of an earlier import, or else the end date of a plan,
// the creation or now.
func (b *batch) setCompletion(r *record) {
	onlyTime := b.plan.target("completed") == nil && b.plan.target("completed_at") != nil
	if onlyTime || r.values["completed"] == nil && r.sets("completed_at") {
		r.values["completed"] = r.sets("completed_at")
	}
	switch {
	case !r.boolean("completed"):
		if r.sets("completed_at") {
			r.reject("completed_at", "must be blank, because it is not completed")
		} else if r.existing["completed_at"] != nil {
			r.values["completed_at"] = nil
		}
	case r.get("completed_at") != nil:
	case r.existing["completed_at"] != nil:
		delete(r.values, "completed_at")
	default:
		at := b.now
		if end, err := civil.Parse(r.text("end_date")); err == nil && end.In(b.practice.zone).Before(at) {
			at = end.In(b.practice.zone).UTC()
		} else if created := r.time("created_at"); !created.IsZero() {
			at = created
		}
		r.values["completed_at"] = at
	}
}

// ruleForAnswer reads the answer to a question as the API does.
func (b *batch) ruleForAnswer(r *record) {
	question := b.parent(r, "custom_field_id")
	kind, _ := question["type"].(string)
	if kind == "" {
		return
	}
	screen := schema.CustomizesPatient
	if r.get("treatment_plan_item_id") != nil {
		screen = schema.CustomizesTreatment
	}
	switch {
	case !schema.QuestionType(kind).Asks():
		r.reject("custom_field_id", "is a "+kind+", which has no answer")
	case question["customizable_type"] != string(screen):
		r.reject("custom_field_id", fmt.Sprintf("is not a question on the %s screen", strings.ToLower(string(screen))))
	default:
		answer, message := b.readAnswer(question, r.text("value"))
		r.rejectIf("value", message)
		r.values["value"] = answer
	}
}

// readAnswer converts and checks an answer, or returns a message.
func (b *batch) readAnswer(question row, s string) (answer, message string) {
	kind, _ := question["type"].(string)
	var convert converter
	if t := b.plan.target("value"); t != nil {
		convert = t.convert
	}
	switch schema.QuestionType(kind) {
	case schema.QuestionCheckbox:
		s, message = convert.value(codec.Field{Kind: codec.Boolean}, s)
	case schema.QuestionNumber:
		s, message = convert.amount(s)
	}
	if message != "" {
		return s, message
	}
	var options []schema.Option
	content, _ := question["options"].(string)
	_ = json.Unmarshal([]byte(content), &options) // the program has stored valid JSON
	return schema.ReadAnswer(schema.QuestionType(kind), options, s)
}
