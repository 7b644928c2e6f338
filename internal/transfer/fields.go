package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"chairside/internal/apispec/limit"
	"chairside/internal/codec"
	"chairside/ogent"
	"chairside/schema"
)

// totals are columns that follow from other rows. What a file says of them is
// never stored, but compared with what they come to.
var totals = map[string][]string{
	"accounts":        {"current_balance", "planned_nhs_treatment_value", "planned_private_treatment_value"},
	"invoices":        {"amount", "amount_outstanding", "paid", "paid_on", "status"},
	"invoice_items":   {"total_price"},
	"payments":        {"amount_unexplained"},
	"treatment_plans": {"private_treatment_value"},
}

// Fields of a file that are not columns of its entity.
const (
	legacyID       = "legacy_id"
	openingBalance = "opening_balance" // of a patient: stored on the account
	claimed        = "claimed_"        // before the name of a total
	claimedBalance = "claimed_balance" // of a patient: the account's current_balance
	paysInvoice    = "invoice_id"      // of a payment: the invoice it pays
	metadataKey    = "metadata."       // before a key
)

// settable reports whether a file may give a value for the column.
func (e *entity) settable(c *column) bool {
	switch {
	case c == nil, c.secret, c.name == "id", c.name == "practice_id", c.name == "updated_at", c.name == "search_text", c.name == "totp_step":
		return false
	case e.has(strings.TrimSuffix(c.name, "_folded")) && strings.HasSuffix(c.name, "_folded"),
		e.has(strings.TrimSuffix(c.name, "_normalized")) && strings.HasSuffix(c.name, "_normalized"):
		return false
	}
	return true
}

// fieldNames are the fields that a file of the entity may give.
func (e *entity) fieldNames() []string {
	list := []string{legacyID}
	for i := range e.columns {
		if c := &e.columns[i]; e.settable(c) && c.name != legacyID {
			list = append(list, c.name)
		}
	}
	switch e.table {
	case "patients":
		list = append(list, openingBalance, claimedBalance)
	case "payments":
		list = append(list, paysInvoice)
	}
	return list
}

// wireField is how the API reads a field, or would: a column that clients
// cannot write is read by its type.
func (e *entity) wireField(name string) (codec.Field, error) {
	if e.table == "patients" && (name == openingBalance || name == claimedBalance) {
		return codec.Field{Name: name, Kind: codec.Decimal, Nullable: true}, nil
	}
	for _, operation := range []string{"create" + e.name, "update" + e.name} {
		if o, ok := ogent.Operations[operation]; ok && o.Body != nil {
			if i := slices.IndexFunc(o.Body.Fields, func(f codec.Field) bool { return f.Name == name }); i >= 0 {
				return o.Body.Fields[i], nil
			}
		}
	}
	c := e.column(name)
	f := codec.Field{Name: name, Nullable: c.nullable, Required: !c.nullable && c.defaults == nil, MaxRunes: limit.LongText, Values: c.enums}
	if e.table == "payments" && name == "amount" { // nothing was paid: not what an empty cell means
		f.Required = true
	}
	if name == "created_at" {
		f.Required = false
	}
	if c.defaults != nil {
		value := c.defaults
		if c.kind == amount {
			value = "0.00"
		}
		text, err := json.Marshal(value)
		if err != nil {
			return f, fmt.Errorf("transfer: the default of %s.%s: %w", e.table, name, err)
		}
		f.Default = string(text)
	}
	switch c.kind {
	case integer:
		f.Kind = codec.Integer
	case amount:
		f.Kind = codec.Decimal
	case boolean:
		f.Kind = codec.Boolean
	case unique:
		f.Kind = codec.UUID
	case date:
		f.Kind = codec.Date
	case moment:
		f.Kind = codec.Time
	default:
		f.Kind = codec.Text
		switch {
		case len(c.enums) > 0:
			f.Kind = codec.Enum
		case name == "email", name == "email_address":
			f.Kind = codec.Email
		}
	}
	if c.limit != nil {
		f.Min, f.Max = c.limit.Min, c.limit.Max
	}
	if e.table == "appointments" && name == "duration" { // of nothing else does the end follow
		f.Min = new(int64(1))
	}
	return f, nil
}

// readDocument is the JSON that is stored for the text of a list or an object.
func readDocument(c *column, s string) (string, string) {
	if c.goType == reflect.TypeFor[[]string]() && !strings.HasPrefix(s, "[") {
		list, err := json.Marshal(foreignList(s))
		if err != nil {
			return "", "must be a list"
		}
		return string(list), ""
	}
	into := reflect.New(c.goType)
	if json.Unmarshal([]byte(s), into.Interface()) != nil {
		return "", "must be the JSON of " + describeType(c.goType)
	}
	if hours, ok := into.Interface().(*schema.OpeningHours); ok {
		if *hours == nil {
			*hours = schema.OpeningHours{}
		}
	}
	content, err := json.Marshal(into.Interface())
	if err != nil || string(content) == "null" {
		return "", "must be the JSON of " + describeType(c.goType)
	}
	if holdsNUL(content) {
		return "", "must not contain NUL"
	}
	return string(content), ""
}

// holdsNUL reports whether a text in a JSON document has the character that
// PostgreSQL cannot store.
func holdsNUL(content []byte) bool {
	tokens := json.NewDecoder(bytes.NewReader(content))
	for {
		token, err := tokens.Token()
		if err != nil { // the end: the document is well-formed
			return false
		}
		if text, ok := token.(string); ok && strings.ContainsRune(text, 0) {
			return true
		}
	}
}

func describeType(t reflect.Type) string {
	if t.Kind() == reflect.Slice {
		return "a list"
	}
	return "an object"
}

// emptyDocument is what stands for no value in a column that needs one.
func emptyDocument(c *column) string {
	if c.goType.Kind() == reflect.Slice {
		return "[]"
	}
	return "{}"
}
