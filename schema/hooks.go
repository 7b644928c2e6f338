package schema

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"entgo.io/ent"

	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/principal"
)

// onSave is a hook that sets columns before a create or an update.
func onSave(set func(ctx context.Context, m ent.Mutation) error) ent.Hook {
	return func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			if m.Op().Is(ent.OpCreate | ent.OpUpdate | ent.OpUpdateOne) {
				if err := set(ctx, m); err != nil {
					return nil, err
				}
			}
			return next.Mutate(ctx, m)
		})
	}
}

// derivation sets columns that are derived from others, or checks them.
type derivation struct {
	from  []string
	apply func(r *row) error
}

// onChange is a hook that applies derivations in order, each one if a column that it derives
// from is written. It refuses bulk updates of such columns, because it cannot read the old
// values of many rows.
func onChange(derivations ...derivation) ent.Hook {
	return onSave(func(ctx context.Context, m ent.Mutation) error {
		for _, d := range derivations {
			switch {
			case !d.isTriggeredBy(m):
				continue
			case m.Op().Is(ent.OpUpdate):
				return fmt.Errorf("schema: the columns %v, from which others are derived, cannot be updated in bulk", d.from)
			}
			r := &row{ctx: ctx, m: m}
			if err := cmp.Or(d.apply(r), r.err); err != nil {
				return err
			}
		}
		return nil
	})
}

// isTriggeredBy reports whether m writes one of the columns that d derives from.
func (d derivation) isTriggeredBy(m ent.Mutation) bool {
	return m.Op().Is(ent.OpCreate) || slices.ContainsFunc(d.from, func(column string) bool {
		_, set := m.Field(column)
		return set || m.FieldCleared(column)
	})
}

// row reads columns of the row as it will be after the mutation, and sets others.
type row struct {
	ctx context.Context
	m   ent.Mutation
	err error // the first failure to read an old value
}

// value returns the value of a column, or nil.
func (r *row) value(column string) any {
	if v, set := r.m.Field(column); set {
		return v
	}
	if r.m.FieldCleared(column) || r.m.Op().Is(ent.OpCreate) {
		return nil
	}
	v, err := r.m.OldField(r.ctx, column)
	r.err = cmp.Or(r.err, err)
	return v
}

// text returns the value of a text column, optional or not; "" for null.
func (r *row) text(column string) string {
	switch v := r.value(column).(type) {
	case string:
		return v
	case *string:
		if v != nil {
			return *v
		}
	}
	return ""
}

// isNull reports whether an optional column has no value.
func (r *row) isNull(column string) bool {
	v := reflect.ValueOf(r.value(column))
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

func (r *row) time(column string) time.Time {
	t, _ := r.value(column).(time.Time)
	return t
}

// set sets a column unless it already has the value, because the audit log would list it as
// changed.
func (r *row) set(column string, v any) error {
	if r.value(column) == v {
		return nil
	}
	return r.m.SetField(column, v)
}

// setOptional sets an optional text column unless it already has the value; "" clears it.
func (r *row) setOptional(column, s string) error {
	if r.text(column) == s {
		return nil
	}
	if s == "" {
		return r.clear(column)
	}
	return r.m.SetField(column, s)
}

func (r *row) clear(column string) error {
	if r.m.Op().Is(ent.OpCreate) {
		return nil
	}
	return r.m.ClearField(column)
}

// deriveFolded maintains the folded copy of a column.
func deriveFolded(column string) derivation {
	return derivation{[]string{column}, func(r *row) error {
		return r.set(column+"_folded", Fold(r.text(column)))
	}}
}

// phoneColumns are a patient's numbers; each has a _country and a _normalized column.
var phoneColumns = []string{"home_phone", "mobile_phone", "work_phone", "emergency_contact_phone"}

// derivePhones maintains the E.164 form of each number.
func derivePhones() (all []derivation) {
	for _, p := range phoneColumns {
		all = append(all, derivation{[]string{p, p + "_country"}, func(r *row) error {
			country := ""
			if c, err := principal.From(r.ctx); err == nil {
				country = c.Country
			}
			return r.setOptional(p+"_normalized", NormalizePhone(r.text(p), r.text(p+"_country"), country))
		}})
	}
	return all
}

// searchColumns are the columns of the search text. searchTextOf relies on their order: four
// names, four others, then phones.
var searchColumns = []string{
	"first_name", "middle_name", "last_name", "preferred_name", "postcode", "email_address", "nhs_number_hash", "legacy_id",
	"home_phone", "mobile_phone", "work_phone", "home_phone_normalized", "mobile_phone_normalized", "work_phone_normalized",
}

// deriveSearchText maintains the text that patient search matches.
func deriveSearchText() derivation {
	return derivation{searchColumns, func(r *row) error { return r.set("search_text", searchTextOf(r.text)) }}
}

// deriveDuration keeps duration equal to finish minus start.
func deriveDuration() derivation {
	return derivation{[]string{"start_time", "finish_time"}, func(r *row) error {
		return r.set("duration", Minutes(r.time("start_time"), r.time("finish_time")))
	}}
}

// deriveInvoiceStatus keeps an invoice's status, paid and paid_on consistent with its amounts.
// A void invoice has nothing outstanding.
func deriveInvoiceStatus() derivation {
	return derivation{[]string{"status", "amount", "amount_outstanding", "sent_at"}, func(r *row) error {
		was, _ := r.value("status").(InvoiceStatus)
		amount, _ := r.value("amount").(decimal.Decimal)
		outstanding, _ := r.value("amount_outstanding").(decimal.Decimal)
		void := was == InvoiceVoid
		if void {
			outstanding = 0
		}
		status := InvoiceStatusOf(amount, outstanding, !r.isNull("sent_at"), void)
		if status != InvoicePaid && !r.isNull("paid_on") {
			if err := r.m.ResetField("paid_on"); err != nil {
				return err
			}
			if err := r.clear("paid_on"); err != nil {
				return err
			}
		}
		return cmp.Or(r.set("amount_outstanding", outstanding), r.set("status", status), r.set("paid", status == InvoicePaid))
	}}
}

// deriveTotalPrice keeps an item's total equal to its quantity times its price.
func deriveTotalPrice() derivation {
	return derivation{[]string{"quantity", "item_price", "total_price"}, func(r *row) error {
		quantity, _ := r.value("quantity").(int)
		price, _ := r.value("item_price").(decimal.Decimal)
		return r.set("total_price", price*decimal.Decimal(quantity))
	}}
}

// checkMetadata refuses metadata beyond the limits of spec.md.
func checkMetadata() derivation {
	return derivation{[]string{"metadata"}, func(r *row) error {
		m, _ := r.value("metadata").(map[string]string)
		if message := codec.CheckMetadata(m); message != "" {
			return apierror.ValidationFailed(apierror.Params{"metadata": {message}})
		}
		return nil
	}}
}

// deriveStateStamp sets the timestamp of a new state. Setting the current state changes
// nothing. Leaving Cancelled or Did not attend clears its timestamp, so that lists show
// the appointment again, and the cancellation reason.
func deriveStateStamp() derivation {
	return derivation{[]string{"state"}, func(r *row) error {
		state, _ := r.value("state").(AppointmentState)
		if state == "" {
			return fmt.Errorf("schema: an appointment needs a state")
		}
		if !r.m.Op().Is(ent.OpCreate) {
			old, err := r.m.OldField(r.ctx, "state")
			if err != nil {
				return err
			}
			before, _ := old.(AppointmentState)
			if before == state {
				return nil
			}
			if !before.Blocks() {
				if err := r.m.ClearField(before.Stamp()); err != nil {
					return err
				}
			}
			const reason = "appointment_cancellation_reason_id"
			if before == Cancelled && !r.isNull(reason) {
				if err := r.m.ClearField(reason); err != nil {
					return err
				}
			}
		}
		return r.m.SetField(state.Stamp(), clock.Now(r.ctx))
	}}
}
