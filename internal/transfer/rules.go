package transfer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/schema"
)

// rules are what holds between the columns of a row, by table: what the API
// checks when a client writes, what the schema's hooks derive, and what the
// program keeps true of rows that clients only read.
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

// user leaves administrators what they may do: a file of another system, in which
// they are somebody else, would lock everybody out.
func (b *batch) user(r *record) {
	if r.existing["role"] != string(schema.RoleAdministrator) || r.text("role") == string(schema.RoleAdministrator) && r.boolean("active") {
		return
	}
	delete(r.given, "role")
	delete(r.given, "active")
	r.warnings = append(r.warnings, finding{field: "role", message: "is that of an administrator here and stays so"})
}

// applyRules completes the records and refuses those that break a rule.
func (b *batch) applyRules() error {
	e := b.plan.entity
	if e.table == "payment_explanations" {
		if err := b.explanations(); err != nil {
			return err
		}
	}
	if e.table == "appointments" {
		if err := b.findReasons(); err != nil {
			return err
		}
	}
	for _, r := range b.records {
		if rule := rules[e.table]; rule != nil {
			rule(b, r)
		}
		if !r.derived || r.existing != nil {
			e.derive(r, b.practice.country)
		}
		b.complete(r)
	}
	return nil
}

// complete gives a new row its defaults, and refuses it where one is missing.
func (b *batch) complete(r *record) {
	e := b.plan.entity
	for i := range e.columns {
		c := &e.columns[i]
		switch {
		case c.name == "id" || c.name == "practice_id" || c.name == "updated_at" || c.nullable:
		case c.name == "created_at":
			r.fill(c.name, b.now)
		case r.get(c.name) != nil:
		case c.kind == document:
			r.given[c.name] = emptyDocument(c)
		case c.defaults != nil:
			r.given[c.name] = storedDefault(c.defaults)
		default:
			if !slices.ContainsFunc(r.problems, func(p problem) bool { return p.field == c.name }) {
				r.refuse(c.name, "is missing")
			}
		}
		b.limit(r, c)
	}
}

// limit refuses what the database would: that would end the import.
func (b *batch) limit(r *record, c *column) {
	v, given := r.given[c.name]
	if !given || c.limit == nil || slices.ContainsFunc(r.problems, func(p problem) bool { return p.field == c.name }) {
		return
	}
	if message := c.limit.Check(v); message != "" {
		r.refuse(c.name, message)
	}
}

// storedDefault is a default as it is stored.
func storedDefault(v any) any {
	if n := reflect.ValueOf(v); n.CanInt() {
		return n.Int()
	}
	return v
}

func (b *batch) patient(r *record) {
	if born, err := civil.Parse(r.text("date_of_birth")); err == nil && b.today.Before(born) {
		r.refuse("date_of_birth", "must not be in the future")
	}
	if plan := b.parent(r, "payment_plan_id"); plan["active"] == false && r.get("active") != false && r.existing["payment_plan_id"] != r.get("payment_plan_id") {
		r.refuse("payment_plan_id", "is not active; archived patients may have it")
	}
}

// findReasons learns the practice's own reasons.
func (b *batch) findReasons() error {
	if b.named[reasonsKey] != nil {
		return nil
	}
	b.named[reasonsKey] = map[string][]string{}
	for _, reason := range schema.Reasons {
		b.named[reasonsKey][fold(reason)] = []string{reason}
	}
	return b.rows("SELECT reason FROM appointment_reasons WHERE practice_id = $1 AND NOT deleted", []any{b.practice.id}, func(values []any) {
		reason := asText(values[0])
		b.named[reasonsKey][fold(reason)] = []string{reason}
	})
}

const reasonsKey = "reasons"

func (b *batch) appointment(r *record) {
	start, minutes := r.time("start_time"), r.integer("duration")
	if r.has("duration") && !r.has("finish_time") {
		r.given["finish_time"] = start.Add(time.Duration(minutes) * time.Minute)
	}
	finish := r.time("finish_time")
	switch length := finish.Sub(start); {
	case finish.IsZero():
		r.refuse("finish_time", "is missing, and so is the duration")
	case length <= 0:
		r.refuse("finish_time", "must be after start_time")
	case length > schema.LongestAppointment:
		r.refuse("finish_time", "must be at most 24 hours after start_time")
	}
	r.given["duration"] = min(max(int64(schema.Minutes(start, finish)), 0), int64(schema.LongestAppointment/time.Minute)) // beyond them finish_time is refused
	if reason := b.named[reasonsKey][fold(r.text("reason"))]; reason != nil {
		r.given["reason"] = reason[0]
	} else if r.existing["reason"] != r.get("reason") {
		r.refuse("reason", "is not a reason of this practice")
	}
	if r.get("state") == nil {
		r.given["state"] = string(schema.Pending)
		if r.has("cancelled_at") {
			r.given["state"] = string(schema.Cancelled)
		} else if r.has("did_not_attend_at") {
			r.given["state"] = string(schema.DidNotAttend)
		}
	}
	b.stamp(r, start, finish)
	practitioner := b.parent(r, "practitioner_id")
	if state := schema.AppointmentState(r.text("state")); practitioner["active"] == false && start.After(b.now) && state.Blocks() {
		r.refuse("practitioner_id", "is not active, and the appointment is still to come")
	}
}

// stamp gives the state its timestamp: what the file says, or else when such a
// thing happens, but not after the import. Only an appointment that is
// cancelled or missed has the stamp of that.
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
	status := ""
	if t := b.plan.target("status"); t != nil {
		status = foreignEnum(schema.InvoiceStatus("").Values(), b.plan.text(t, r.cells))
		if status != "" && !slices.Contains(schema.InvoiceStatus("").Values(), status) {
			r.refuse("status", "must be one of: "+strings.Join(schema.InvoiceStatus("").Values(), ", "))
		}
	}
	if status == string(schema.InvoiceSent) && r.get("sent_at") == nil {
		if day, err := civil.Parse(r.text("dated_on")); err == nil {
			r.given["sent_at"] = day.In(b.practice.zone).UTC()
		}
	}
	void := string(schema.InvoiceVoid)
	if was := r.text("status"); b.plan.target("status") != nil && (was == "" || (was == void) != (status == void)) {
		r.given["status"] = string(schema.InvoiceNew) // the rest follows from the payments
		if status == void {
			r.given["status"] = void
		}
	}
	if b.plan.makeItem && r.existing == nil {
		total, message := b.claim(r, "amount")
		if message != "" {
			r.refuse("amount", message)
		}
		r.given["amount"], r.given["amount_outstanding"] = total, total
	}
	b.agree(r)
}

// agree keeps the columns of an invoice in agreement, as the database demands of
// every state of the row. The totals are settled when all files are in.
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

// claim is an amount of which the file says what it comes to.
func (b *batch) claim(r *record, field string) (any, string) {
	t := b.plan.target(field)
	if t == nil {
		return int64(0), ""
	}
	s := b.plan.text(t, r.cells)
	if s == "" {
		return int64(0), ""
	}
	s, message := t.read.amount(s)
	if message != "" {
		return int64(0), message
	}
	d, err := decimal.Parse(t.negated(s))
	if err != nil {
		return int64(0), err.Error()
	}
	return int64(d), ""
}

func (b *batch) invoiceItem(r *record) {
	r.fill("quantity", int64(1))
	quantity := r.integer("quantity")
	priced := b.plan.target("total_price")
	switch said := priced != nil && b.plan.text(priced, r.cells) != ""; {
	case !said && r.get("item_price") == nil:
		r.refuse("item_price", "is missing")
	case said && !r.has("item_price"): // whatever the price was before
		total, message := b.claim(r, "total_price")
		switch n, _ := total.(int64); {
		case message != "":
			r.refuse("total_price", message)
		case quantity == 0 || n%quantity != 0:
			r.refuse("item_price", "is missing, and total_price is no multiple of the quantity")
		default:
			r.given["item_price"] = n / quantity
		}
	}
	r.given["total_price"] = quantity * r.integer("item_price")
	if r.integer("total_price") > int64(decimal.Max) || r.integer("total_price") < -int64(decimal.Max) {
		r.refuse("total_price", decimal.ErrRange.Error())
	}
}

func (b *batch) payment(r *record) {
	if r.existing == nil {
		r.given["amount_unexplained"] = r.get("amount")
	}
}

func (b *batch) treatmentPlan(r *record) {
	b.completion(r, "end_date")
}

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
		if end, err := civil.Parse(r.text(day)); day != "" && err == nil && end.In(b.practice.zone).Before(at) {
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
	s := r.text("value")
	switch t := schema.QuestionType(kind); {
	case !t.Asks():
		r.refuse("custom_field_id", "is a "+kind+", which asks nothing")
	case question["customizable_type"] != string(screen):
		r.refuse("custom_field_id", fmt.Sprintf("is not a question on the %s screen", strings.ToLower(string(screen))))
	case t == schema.QuestionCheckbox:
		word, ok := booleanWords[strings.ToLower(s)]
		if !ok {
			r.refuse("value", "must be yes or no")
		}
		r.given["value"] = word
	case t == schema.QuestionNumber:
		var read translator
		if t := b.plan.target("value"); t != nil {
			read = t.read
		}
		n, message := read.amount(s)
		if message != "" {
			r.refuse("value", message)
			break
		}
		d, err := decimal.Parse(n)
		if err != nil {
			r.refuse("value", err.Error())
		}
		r.given["value"] = d.String()
	case t == schema.QuestionEnum:
		var options []schema.Option
		content, _ := question["options"].(string)
		if json.Unmarshal([]byte(content), &options) == nil && len(options) > 0 && !slices.ContainsFunc(options, func(o schema.Option) bool { return o.Name == s }) {
			r.refuse("value", "must be one of its options")
		}
	}
}

// warnOfDuplicates points at patients who may be the same person: the same name
// and day of birth under another legacy id.
func (b *batch) warnOfDuplicates() error {
	if b.plan.entity.table != "patients" {
		return nil
	}
	person := func(first, last, born string) string { return first + "\x00" + last + "\x00" + born }
	type twin struct{ id, name string } // the id is "" for one that is new
	twins := map[string][]twin{}
	var days, names []any
	for _, r := range b.records {
		days, names = append(days, r.text("date_of_birth")), append(names, r.text("last_name_folded"))
	}
	condition, born := b.bulk.In("date_of_birth", 2, days)
	named, name := b.bulk.In("last_name_folded", 3, names)
	err := b.rows("SELECT first_name_folded, last_name_folded, date_of_birth, legacy_id, id FROM patients WHERE practice_id = $1 AND "+condition+" AND "+named, []any{b.practice.id, born, name}, func(values []any) {
		born, _, err := date.show(values[2])
		if err != nil {
			return // then it is nobody's
		}
		id, name := asText(values[4]), "legacy id "+asText(values[3])
		if values[3] == nil {
			name = "id " + id
		}
		p := person(asText(values[0]), asText(values[1]), born)
		twins[p] = append(twins[p], twin{id, name})
	})
	for _, r := range b.records {
		p := person(r.text("first_name_folded"), r.text("last_name_folded"), r.text("date_of_birth"))
		for _, other := range twins[p] {
			if other.id == "" || other.id != asText(r.id) {
				r.warnings = append(r.warnings, finding{field: "last_name", message: "has the name and the date of birth of the patient with the " + other.name})
				break
			}
		}
		if r.existing == nil {
			twins[p] = append(twins[p], twin{name: "legacy id " + r.text(legacyID)})
		}
		if r.gone {
			r.warnings = append(r.warnings, finding{field: legacyID, message: "its record was deleted here and stays so"})
		}
	}
	return err
}
