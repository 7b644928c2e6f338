package importer

import (
	"fmt"
	"math"
	"slices"

	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// check reads the files with totals again and writes a finding for each that differs from the
// computed one. It also warns of files without rows and of double bookings. It changes no row.
func (im *importer) check() error {
	im.reportProgress("comparing", 0, 0)
	for _, p := range im.plans {
		if slices.ContainsFunc(p.targets, func(t *target) bool { return t.role == total }) {
			if err := im.reread(p, math.MaxInt, (*batch).checkTotals); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return im.inTx(nil, func(b *batch) {
		if !im.downloaded {
			b.warnOfEmptyFiles()
		}
		b.warnOfDoubleBookings()
	})
}

// warnOfEmptyFiles warns of files that had no row to import: often an export that failed.
func (b *batch) warnOfEmptyFiles() {
	var findings []finding
	for i, p := range b.plans {
		if b.checkpoint.Files[i].Rows > 0 {
			continue
		}
		message := "has no rows"
		if len(p.conditions) > 0 {
			message = "has no rows that \"only\" selects"
		}
		findings = append(findings, finding{file: p.name, kind: warning, message: message})
	}
	b.writeFindings(&b.checkpoint, findings)
}

// checkTotals compares the totals in the file with the computed ones.
func (b *batch) checkTotals() {
	b.records = slices.DeleteFunc(b.records, func(r *record) bool { return r.rejected() || r.existing == nil })
	balances := map[string]any{} // by patient
	if b.plan.entity.Name == "patients" {
		b.queryIn("SELECT patient_id, current_balance FROM accounts WHERE practice_id = $1", "patient_id", idsOf(b.records), func(v []any) { balances[asText(v[0])] = v[1] })
	}
	var findings []finding
	for _, r := range b.records {
		for _, t := range b.plan.targets {
			if t.role != total {
				continue
			}
			if f := b.checkTotal(r, t, balances[asText(r.id)]); f.message != "" {
				findings = append(findings, f)
			}
		}
	}
	b.writeFindings(&b.checkpoint, findings)
}

// checkTotal compares one total. The finding has no message if it is blank or equal.
func (b *batch) checkTotal(r *record, t *target, balance any) (f finding) {
	claimed := b.plan.text(t, r.cells)
	if claimed == "" {
		return f
	}
	computed, kind := balance, table.Amount
	if t.column != nil {
		computed, kind = r.existing[t.name], t.column.Stored
	}
	text, _, err := kind.Format(computed)
	b.fail(err)
	f = t.compare(claimed, text)
	f.file, f.line, f.legacyID = b.plan.name, r.source.line, r.legacyID
	return f
}

// compare compares a total in a file with the computed one. The finding has no message if they
// are equal.
func (t *target) compare(claimed, computed string) finding {
	f := finding{kind: difference, field: t.name, claimed: claimed, computed: computed}
	value, message := t.convert.value(t.field, claimed)
	if message == "" && t.field.Kind == codec.Decimal {
		d, err := decimal.Parse(t.applySign(value))
		if err != nil {
			message = err.Error()
		}
		value = d.String()
	}
	switch {
	case message != "":
		f.message = "cannot be compared: " + message
	case value != computed && !(t.name == "status" && isUnpaid(value) && isUnpaid(computed)):
		f.claimed, f.message = value, "differs from the computed value"
	}
	return f
}

// isUnpaid reports whether a status of invoices is neither paid nor void. Other systems rarely
// distinguish new, sent and partly paid invoices.
func isUnpaid(status string) bool {
	return status != string(schema.InvoicePaid) && status != string(schema.InvoiceVoid)
}

// warnOfDoubleBookings warns of appointments in the future that this import wrote and that
// overlap another one of their practitioner. They are kept, because the other system allowed
// them.
func (b *batch) warnOfDoubleBookings() {
	var files []string
	for _, p := range b.plans {
		if p.entity.Name == "appointments" && !slices.Contains(files, p.name) {
			files = append(files, p.name)
		}
	}
	if len(files) == 0 {
		return
	}
	file := "" // it is not known which of several
	if len(files) == 1 {
		file = files[0]
	}
	type overlap struct{ imported, other string } // IDs; the other may be imported, too
	var overlaps []overlap
	var ids []any
	b.query(`SELECT a.id, b.id, b.updated_at >= $2 FROM appointments AS a JOIN appointments AS b
			ON b.practice_id = a.practice_id AND b.practitioner_id = a.practitioner_id
			AND b.start_time >= a.start_time AND b.start_time < a.finish_time AND (b.start_time > a.start_time OR b.id > a.id)
		WHERE a.practice_id = $1 AND a.start_time >= $2 AND (a.updated_at >= $2 OR b.updated_at >= $2)
			AND a.state NOT IN ('Cancelled', 'Did not attend') AND b.state NOT IN ('Cancelled', 'Did not attend')
		ORDER BY a.start_time, a.id, b.id`, []any{b.practice.id, b.started}, func(v []any) {
		pair := overlap{imported: asText(v[1]), other: asText(v[0])}
		if laterImported := asText(v[2]); laterImported != "1" && laterImported != "true" {
			pair = overlap{imported: pair.other, other: pair.imported}
		}
		overlaps, ids = append(overlaps, pair), append(ids, pair.imported, pair.other)
	})
	legacy := b.legacyIDs(entityOf("appointments"), ids)
	var findings []finding
	for _, pair := range overlaps {
		other := "id " + pair.other
		if l, ok := legacy[pair.other]; ok {
			other = legacyIDLabel + " " + l
		}
		findings = append(findings, finding{
			file: file, legacyID: legacy[pair.imported], kind: warning, field: "start_time",
			message: "the practitioner is double-booked: it overlaps the appointment with the " + other,
		})
	}
	b.writeFindings(&b.checkpoint, findings)
}
