package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/entx/table"
	"chairside/schema"
)

// compare reads the files that claim totals once more, and notes where the claims are not what
// the rows come to. It writes nothing into the database.
func (im *importer) compare() error {
	im.report("comparing", 0, 0)
	for _, p := range im.plans {
		if slices.ContainsFunc(p.targets, func(t *target) bool { return t.role == total }) {
			if err := im.readAgain(p, math.MaxInt, (*batch).compare); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return im.inTx(nil, (*batch).warnOfDoubleBookings)
}

// readAgain reads the first rows of a file that were stored before, and hands over those that
// were not refused, with the rows they became.
func (im *importer) readAgain(p *plan, rows int, each func(b *batch)) error {
	refused, err := refusedLines(filepath.Join(im.out, p.rejects))
	if err != nil {
		return err
	}
	clear(im.named)
	var records []*record
	hand := func() error {
		defer func() { records = nil }()
		return im.inTx(p, func(b *batch) {
			b.comparing, b.records = true, records
			b.findAgain()
			each(b)
		})
	}
	for r, err := range p.records() {
		switch {
		case err != nil:
			return err
		case rows == 0:
			return hand()
		case !refused[r.line]:
			records = append(records, r)
		}
		if rows--; len(records) == batchRows {
			if err := hand(); err != nil {
				return err
			}
		}
	}
	return hand()
}

// refusedLines are the lines of a file that its file of rejects has.
func refusedLines(path string) (map[int]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord, reader.ReuseRecord = -1, true
	refused := map[int]bool{}
	for {
		cells, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return refused, nil
		case err != nil:
			return nil, fmt.Errorf("read the rejects: %w", err)
		}
		if line, err := strconv.Atoi(cells[0]); err == nil { // the header is none
			refused[line] = true
		}
	}
}

// findAgain finds the rows of records by their legacy ids, or where the file has none by what
// they refer to.
func (b *batch) findAgain() {
	steps := []func(){b.findRows}
	if b.plan.withoutIDs() {
		for _, r := range b.records {
			b.plan.read(r, b.source)
		}
		steps = []func(){b.findReferences, b.findParents, b.adopt}
	}
	for _, step := range steps {
		b.sound()
		step()
	}
}

// compare compares what the records claim of totals with what their rows come to.
func (b *batch) compare() {
	b.records = slices.DeleteFunc(b.records, func(r *record) bool { return len(r.problems) > 0 || r.existing == nil })
	balances := map[string]any{} // of patients
	if b.plan.entity.Name == "patients" {
		b.query("SELECT patient_id, current_balance FROM accounts WHERE practice_id = $1", "patient_id", idsOf(b.records), func(v []any) { balances[asText(v[0])] = v[1] })
	}
	var findings []finding
	for _, r := range b.records {
		for _, t := range b.plan.targets {
			claims := ""
			if t.role == total {
				claims = b.plan.text(t, r.cells)
			}
			if claims == "" {
				continue
			}
			is, kind := balances[asText(r.id)], table.Amount
			if t.column != nil {
				is, kind = r.existing[t.name], t.column.Stored
			}
			computed, _, err := kind.Format(is)
			b.fail(err)
			if f := t.compare(claims, computed); f.message != "" {
				f.file, f.line, f.legacy = b.plan.name, r.line, r.legacy
				findings = append(findings, f)
			}
		}
	}
	b.found(&b.note, findings)
}

// compare compares what a file claims of a total with what it is. The finding has no message
// where they agree.
func (t *target) compare(claims, computed string) finding {
	f := finding{kind: difference, field: t.name, claimed: claims, computed: computed}
	read, message := foreignValue(t.field, claims, &t.read)
	if message == "" && t.field.Kind == codec.Decimal {
		d, err := decimal.Parse(t.negated(read))
		if err != nil {
			message = err.Error()
		}
		read = d.String()
	}
	switch {
	case message != "":
		f.message = "cannot be compared: " + message
	case read != computed && !(t.name == "status" && unpaid(read) && unpaid(computed)):
		f.claimed, f.message = read, "differs from what the records come to"
	}
	return f
}

// unpaid reports whether an invoice of a status is still to be paid: other systems rarely tell
// new ones from sent or partly paid ones.
func unpaid(status string) bool {
	return status != string(schema.InvoicePaid) && status != string(schema.InvoiceVoid)
}

// warnOfDoubleBookings points at appointments to come that this import has written although the
// practitioner has another one at that time. The other system has let it happen, and so it is
// kept. Which of several files of appointments one is from is not known.
func (b *batch) warnOfDoubleBookings() {
	var names []string
	for _, p := range b.plans {
		if p.entity.Name == "appointments" && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	if len(names) == 0 {
		return
	}
	file := ""
	if len(names) == 1 {
		file = names[0]
	}
	type pair struct{ own, other string } // ids; the other may be one of this import too
	var pairs []pair
	var ids []any
	b.rows(`SELECT a.id, b.id, b.updated_at >= $2 FROM appointments AS a JOIN appointments AS b
			ON b.practice_id = a.practice_id AND b.practitioner_id = a.practitioner_id
			AND b.start_time >= a.start_time AND b.start_time < a.finish_time AND (b.start_time > a.start_time OR b.id > a.id)
		WHERE a.practice_id = $1 AND a.start_time >= $2 AND (a.updated_at >= $2 OR b.updated_at >= $2)
			AND a.state NOT IN ('Cancelled', 'Did not attend') AND b.state NOT IN ('Cancelled', 'Did not attend')
		ORDER BY a.start_time, a.id, b.id`, []any{b.practice.id, b.started}, func(v []any) {
		two := pair{asText(v[1]), asText(v[0])}
		if later := asText(v[2]); later != "1" && later != "true" {
			two = pair{two.other, two.own}
		}
		pairs, ids = append(pairs, two), append(ids, two.own, two.other)
	})
	legacy := b.legacyIDs(entityOf("appointments"), ids)
	var findings []finding
	for _, two := range pairs {
		other := "id " + two.other
		if l, ok := legacy[two.other]; ok {
			other = legacyName + " " + l
		}
		findings = append(findings, finding{
			file: file, legacy: legacy[two.own], kind: warning, field: "start_time",
			message: "the practitioner is booked twice: it overlaps the appointment with the " + other,
		})
	}
	b.found(&b.note, findings)
}
