package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// rules are what holds between the columns of a row, by table: what the API checks when a client
// writes, what the schema's hooks derive, and what the program keeps true of rows that clients
// only read.
var rules = map[string]func(b *batch, r *record){
	"patients":             (*batch).patient,
	"appointments":         (*batch).appointment,
	"invoices":             (*batch).invoice,
	"invoice_items":        (*batch).invoiceItem,
	"payments":             (*batch).payment,
	"treatment_plans":      (*batch).treatmentPlan,
	"treatment_plan_items": (*batch).treatmentPlanItem,
	"working_sessions":     (*batch).workingSession,
	"custom_field_answers": (*batch).answer,
	"contracts":            (*batch).contract,
	"users":                (*batch).user,
}

// applyRules completes the records and refuses those that break a rule.
func (b *batch) applyRules() {
	e := b.plan.entity
	switch e.Name {
	case explanationTable:
		b.explanations()
	case "appointments":
		b.findReasons()
	}
	for _, r := range b.records {
		if rule := rules[e.Name]; rule != nil {
			rule(b, r)
		}
		if !r.derived || r.existing != nil {
			b.derive(e, r)
		}
		b.complete(r)
	}
}

// derive sets the columns that follow from others of the same row, as the schema's hooks do.
func (im *importer) derive(e *entity, r *record) {
	schema.Derive(e.derived, im.practice.country, r.text, func(column, s string) {
		r.given[column] = s
		if s == "" && e.Column(column).Null {
			r.given[column] = nil
		}
	})
}

// complete gives a new row its defaults, and refuses it where one is missing.
func (b *batch) complete(r *record) {
	e := b.plan.entity
	for i := range e.Columns {
		c := &e.Columns[i]
		refused := func() bool {
			return slices.ContainsFunc(r.problems, func(p problem) bool { return p.field == c.Name })
		}
		switch {
		case c.Name == "id" || c.Name == "practice_id" || c.Name == "updated_at" || c.Null:
		case c.Name == "created_at":
			r.fill(c.Name, b.now)
		case r.get(c.Name) != nil:
		case c.Stored == table.JSON:
			r.given[c.Name] = emptyDocument(c)
		case c.Initial != nil:
			r.given[c.Name] = c.Initial
		case !refused():
			r.refuse(c.Name, "is missing")
		}
		// What the database would refuse would end the import.
		if v, given := r.given[c.Name]; given && c.Limit != nil && !refused() {
			r.check(c.Name, c.Limit.Check(v))
		}
	}
}

// user leaves administrators what they may do: a file of another system, in which they are
// somebody else, would lock everybody out.
func (b *batch) user(r *record) {
	administrator := string(schema.RoleAdministrator)
	if r.existing["role"] != administrator || r.text("role") == administrator && r.boolean("active") {
		return
	}
	delete(r.given, "role")
	delete(r.given, "active")
	r.warn("role", "is that of an administrator here and stays so")
}

func (b *batch) patient(r *record) {
	if born, err := civil.Parse(r.text("date_of_birth")); err == nil && b.today.Before(born) {
		r.refuse("date_of_birth", "must not be in the future")
	}
	if plan := b.parent(r, "payment_plan_id"); plan["active"] == false && r.get("active") != false && r.changes("payment_plan_id") {
		r.refuse("payment_plan_id", "is not active; archived patients may have it")
	}
}

const reasonsKey = "reasons"

// findReasons learns the practice's own reasons.
func (b *batch) findReasons() {
	if b.named[reasonsKey] != nil {
		return
	}
	reasons := map[string][]string{}
	for _, reason := range schema.Reasons {
		reasons[fold(reason)] = []string{reason}
	}
	b.rows("SELECT reason FROM appointment_reasons WHERE practice_id = $1 AND NOT deleted", []any{b.practice.id}, func(v []any) {
		reasons[fold(asText(v[0]))] = []string{asText(v[0])}
	})
	b.named[reasonsKey] = reasons
}

func (b *batch) appointment(r *record) {
	start := r.time("start_time")
	if r.has("duration") && !r.has("finish_time") {
		r.given["finish_time"] = start.Add(time.Duration(r.integer("duration")) * time.Minute)
	}
	finish := r.time("finish_time")
	if finish.IsZero() {
		r.refuse("finish_time", "is missing, and so is the duration")
	} else {
		r.check("finish_time", schema.CheckFinish(start, finish))
	}
	r.given["duration"] = min(max(int64(schema.Minutes(start, finish)), 0), int64(schema.LongestAppointment/time.Minute)) // beyond them finish_time is refused
	if reason := b.named[reasonsKey][fold(r.text("reason"))]; reason != nil {
		r.given["reason"] = reason[0]
	} else if r.changes("reason") {
		r.refuse("reason", "is not a reason of this practice")
	}
	if r.get("state") == nil {
		r.given["state"] = string(schema.Pending)
		for _, state := range []schema.AppointmentState{schema.DidNotAttend, schema.Cancelled} {
			if r.has(state.Stamp()) {
				r.given["state"] = string(state)
			}
		}
	}
	b.stamp(r, start, finish)
	practitioner := b.parent(r, "practitioner_id")
	if state := schema.AppointmentState(r.text("state")); practitioner["active"] == false && start.After(b.now) && state.Blocks() {
		r.refuse("practitioner_id", "is not active, and the appointment is still to come")
	}
}

// stamp gives the state its timestamp: what the file says, or else when such a thing happens, but
// not after the import. Only an appointment that is cancelled or missed has the stamp of that.
func (b *batch) stamp(r *record, start, finish time.Time) {
	state := schema.AppointmentState(r.text("state"))
	for _, other := range []schema.AppointmentState{schema.Cancelled, schema.DidNotAttend} {
		switch {
		case other == state:
		case r.has(other.Stamp()):
			r.refuse(other.Stamp(), "is there although the state is "+string(state))
		case r.existing[other.Stamp()] != nil:
			r.given[other.Stamp()] = nil
		}
	}
	stamp := state.Stamp()
	if stamp == "" || r.has(stamp) {
		return
	}
	happened := func(start, finish time.Time) time.Time {
		switch made := r.time("created_at"); {
		case state == schema.Completed:
			return finish
		case (state == schema.Pending || state == schema.Confirmed) && !made.IsZero():
			return made
		}
		return start
	}
	if before, ok := r.existing[stamp].(time.Time); ok && r.existing["state"] == string(state) {
		started, _ := r.existing["start_time"].(time.Time)
		finished, _ := r.existing["finish_time"].(time.Time)
		if !before.Equal(happened(started, finished)) { // something else has said when
			delete(r.given, stamp)
			return
		}
	}
	r.given[stamp] = happened(start, finish)
	if happened(start, finish).After(b.now) {
		r.given[stamp] = b.now
	}
}

func (b *batch) invoice(r *record) {
	if !r.has("due_on") && r.existing["due_on"] == r.existing["dated_on"] { // nothing else has said when
		r.given["due_on"] = r.get("dated_on")
	}
	if t := b.plan.target("status"); t != nil {
		status := foreignEnum(t.field.Values, b.plan.text(t, r.cells))
		if status != "" && !slices.Contains(t.field.Values, status) {
			r.refuse("status", "must be one of: "+strings.Join(t.field.Values, ", "))
		}
		if day, err := civil.Parse(r.text("dated_on")); err == nil && status == string(schema.InvoiceSent) {
			r.fill("sent_at", day.In(b.practice.zone).UTC())
		}
		void := status == string(schema.InvoiceVoid)
		if was := r.text("status"); was == "" || (was == string(schema.InvoiceVoid)) != void {
			r.given["status"] = string(schema.InvoiceNew) // the rest follows from the payments
			if void {
				r.given["status"] = status
			}
		}
	}
	if b.plan.makeItem && r.existing == nil {
		total, message := b.claim(r, "amount")
		r.check("amount", message)
		r.given["amount"], r.given["amount_outstanding"] = total, total
	}
	b.agree(r)
}

// agree keeps the columns of an invoice in agreement, as the database demands of every state of
// the row. The totals are settled when all files are in.
func (b *batch) agree(r *record) {
	amount, outstanding := r.integer("amount"), r.integer("amount_outstanding")
	void := r.text("status") == string(schema.InvoiceVoid)
	switch {
	case void:
		outstanding = 0
	case r.existing["status"] == string(schema.InvoiceVoid):
		outstanding = amount
	}
	status := schema.InvoiceStatusOf(decimal.Decimal(amount), decimal.Decimal(outstanding), r.get("sent_at") != nil, void)
	agreed := row{"amount_outstanding": outstanding, "status": string(status), "paid": status == schema.InvoicePaid}
	if status != schema.InvoicePaid {
		agreed["paid_on"] = nil
	}
	for column, v := range agreed {
		if r.get(column) != v {
			r.given[column] = v
		}
	}
}

// claim is an amount of which the file says what it comes to, 0 where it does not.
func (b *batch) claim(r *record, field string) (n int64, message string) {
	s := ""
	t := b.plan.target(field)
	if t != nil {
		s = b.plan.text(t, r.cells)
	}
	if s == "" {
		return 0, ""
	}
	if s, message = t.read.amount(s); message != "" {
		return 0, message
	}
	d, err := decimal.Parse(t.negated(s))
	if err != nil {
		message = err.Error()
	}
	return int64(d), message
}

func (b *batch) invoiceItem(r *record) {
	r.fill("quantity", int64(1))
	quantity := r.integer("quantity")
	priced := b.plan.target("total_price")
	switch said := priced != nil && b.plan.text(priced, r.cells) != ""; {
	case !said && r.get("item_price") == nil:
		r.refuse("item_price", "is missing")
	case said && !r.has("item_price"): // whatever the price was before
		switch n, message := b.claim(r, "total_price"); {
		case message != "":
			r.refuse("total_price", message)
		case quantity == 0 || n%quantity != 0:
			r.refuse("item_price", "is missing, and total_price is no multiple of the quantity")
		default:
			r.given["item_price"] = n / quantity
		}
	}
	total := quantity * r.integer("item_price")
	if r.given["total_price"] = total; max(total, -total) > int64(decimal.Max) {
		r.refuse("total_price", decimal.ErrRange.Error())
	}
}

func (b *batch) payment(r *record) {
	if r.existing == nil {
		r.given["amount_unexplained"] = r.get("amount")
	}
}

func (b *batch) treatmentPlan(r *record) { b.completion(r, "end_date") }

func (b *batch) treatmentPlanItem(r *record) {
	b.completion(r, "")
	r.given["charged"] = r.get("invoice_id") != nil
}

// completion keeps completed and the time of it together.
func (b *batch) completion(r *record, day string) {
	if b.plan.target("completed") == nil && b.plan.target("completed_at") != nil || r.given["completed"] == nil && r.has("completed_at") {
		r.given["completed"] = r.has("completed_at")
	}
	switch {
	case !r.boolean("completed"):
		if r.has("completed_at") {
			r.refuse("completed_at", "is there although it is not completed")
		} else if r.existing["completed_at"] != nil {
			r.given["completed_at"] = nil
		}
	case r.get("completed_at") != nil:
	case r.existing["completed_at"] != nil: // the file does not say when
		delete(r.given, "completed_at")
	default:
		at := b.now
		if end, err := civil.Parse(r.text(day)); err == nil && end.In(b.practice.zone).Before(at) {
			at = end.In(b.practice.zone).UTC()
		} else if made := r.time("created_at"); !made.IsZero() {
			at = made
		}
		r.given["completed_at"] = at
	}
}

func (b *batch) workingSession(r *record) {
	if r.integer("finish_minute") <= r.integer("start_minute") {
		r.refuse("finish_minute", "must be after start_minute")
	}
}

func (b *batch) contract(r *record) {
	if end := r.text("end_date"); end != "" && end < r.text("start_date") {
		r.refuse("end_date", "must not be before start_date")
	}
}

// answer reads the answer to a question as the API does.
func (b *batch) answer(r *record) {
	question := b.parent(r, "custom_field_id")
	kind, _ := question["type"].(string)
	if kind == "" {
		return
	}
	screen := schema.CustomizesPatient
	if r.get("treatment_plan_item_id") != nil {
		screen = schema.CustomizesTreatment
	}
	t, s, message := schema.QuestionType(kind), r.text("value"), ""
	switch {
	case !t.Asks():
		r.refuse("custom_field_id", "is a "+kind+", which asks nothing")
		return
	case question["customizable_type"] != string(screen):
		r.refuse("custom_field_id", fmt.Sprintf("is not a question on the %s screen", strings.ToLower(string(screen))))
		return
	case t == schema.QuestionCheckbox:
		s, message = foreignValue(codec.Field{Kind: codec.Boolean}, s, nil)
	case t == schema.QuestionNumber:
		var read translator
		if t := b.plan.target("value"); t != nil {
			read = t.read
		}
		s, message = read.amount(s)
	}
	if message == "" {
		var options []schema.Option
		content, _ := question["options"].(string)
		_ = json.Unmarshal([]byte(content), &options) // what this program has stored is well-formed
		s, message = schema.ReadAnswer(t, options, s)
	}
	r.check("value", message)
	r.given["value"] = s
}

// warnOfDuplicates points at patients who may be the same person: the same name and day of birth
// under another legacy id.
func (b *batch) warnOfDuplicates() {
	if b.plan.entity.Name != "patients" || b.err != nil {
		return
	}
	same := []string{"date_of_birth", "last_name_folded", "first_name_folded"}
	person := func(get func(column string) any) (s string) {
		for _, c := range same {
			s += asText(get(c)) + "\x00"
		}
		return s
	}
	type twin struct{ id, name string } // the id is "" for one that is new
	twins := map[string][]twin{}
	var days, names []any
	for _, r := range b.records {
		days, names = append(days, r.text(same[0])), append(names, r.text(same[1]))
	}
	named, name := b.bulk.In(same[1], 3, names)
	columns := append([]string{"id", legacyID}, same...)
	born, day := b.bulk.In(same[0], 2, days)
	b.rows(selectFrom(b.plan.entity, columns)+"practice_id = $1 AND "+born+" AND "+named, []any{b.practice.id, day, name}, func(v []any) {
		known := b.stored(b.plan.entity, columns, v)
		t := twin{asText(known["id"]), legacyName + " " + asText(known[legacyID])}
		if known[legacyID] == nil {
			t.name = "id " + t.id
		}
		p := person(func(column string) any { return known[column] })
		twins[p] = append(twins[p], t)
	})
	for _, r := range b.records {
		p := person(r.get)
		if i := slices.IndexFunc(twins[p], func(t twin) bool { return t.id == "" || t.id != asText(r.id) }); i >= 0 {
			r.warn("last_name", "has the name and the date of birth of the patient with the "+twins[p][i].name)
		}
		if r.existing == nil {
			twins[p] = append(twins[p], twin{name: legacyName + " " + r.text(legacyID)})
		}
		if r.gone {
			r.warn(legacyID, "its record was deleted here and stays so")
		}
	}
}
