package transfer

import (
	"database/sql"
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
	"chairside/internal/store/bulk"
	"chairside/schema"
)

// compare reads the files that claim totals once more, and notes where the
// claims are not what the rows come to. It writes nothing into the database.
func (im *importer) compare() error {
	im.bar.say("comparing")
	for _, p := range im.plans {
		if slices.ContainsFunc(p.targets, func(t *target) bool { return t.role == total }) {
			if err := im.compareFile(p); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return im.warnOfDoubleBookings()
}

func (im *importer) compareFile(p *plan) error {
	return im.readAgain(p, math.MaxInt, func(records []*record) error { return im.compareBatch(p, records) })
}

// readAgain reads the first rows of a file that were stored before, and hands over
// those that were not refused.
func (im *importer) readAgain(p *plan, rows int, each func(records []*record) error) error {
	refused, err := refusedLines(filepath.Join(im.out, p.rejects))
	if err != nil {
		return err
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	defer s.close()
	clear(im.named)
	for end := false; !end; {
		var records []*record
		for len(records) < batchRows {
			if end = rows == 0; end {
				break
			}
			row, err := s.next()
			if end = errors.Is(err, io.EOF); end {
				break
			}
			if err != nil {
				return err
			}
			rows--
			if !refused[row.line] {
				records = append(records, p.take(row))
			}
		}
		if len(records) == 0 {
			continue
		}
		if err := each(records); err != nil {
			return err
		}
	}
	return nil
}

// refusedLines are the lines of a file that its file of rejects has.
func refusedLines(path string) (map[int]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("transfer: %w", err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord, reader.ReuseRecord = -1, true
	refused := map[int]bool{}
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return refused, nil
		}
		if err != nil {
			return nil, fmt.Errorf("transfer: read the rejects: %w", err)
		}
		if line, err := strconv.Atoi(cells[0]); err == nil { // the header is none
			refused[line] = true
		}
	}
}

func (im *importer) compareBatch(p *plan, records []*record) error {
	var findings [][]string
	err := im.inTx(func(tx *sql.Tx, bulk *bulk.Tx) error {
		findings = nil
		b := &batch{importer: im, plan: p, tx: tx, bulk: bulk, comparing: true, records: records}
		if err := b.findAgain(); err != nil {
			return err
		}
		b.records = slices.DeleteFunc(b.records, func(r *record) bool { return len(r.problems) > 0 || r.existing == nil })
		balances, err := b.balances()
		if err != nil {
			return err
		}
		for _, r := range b.records {
			for _, t := range p.targets {
				if t.role != total {
					continue
				}
				is := balances[asText(r.id)]
				kind := amount
				if t.column != nil {
					is, kind = r.existing[t.column.name], t.column.kind
				}
				f, err := p.compare(t, r, kind, is)
				if err != nil {
					return err
				}
				if f != nil {
					findings = append(findings, f.record())
				}
			}
		}
		return nil
	})
	if err != nil || len(findings) == 0 {
		return err
	}
	im.note.Differences += len(findings)
	im.note.Findings, err = im.findings.write(findings...)
	return err
}

// findAgain finds the rows of records by their legacy ids, or where the file
// has none by what they refer to.
func (b *batch) findAgain() error {
	steps := []func() error{b.findRows}
	if b.plan.withoutIDs() {
		for _, r := range b.records {
			b.plan.read(r, b.source)
		}
		steps = []func() error{b.findReferences, b.findParents, b.adopt}
	}
	for _, step := range steps {
		b.records = slices.DeleteFunc(b.records, func(r *record) bool { return len(r.problems) > 0 })
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// balances are those of the patients among the records, where the file claims
// any.
func (b *batch) balances() (map[string]any, error) {
	balances := map[string]any{}
	if b.plan.entity.table != "patients" {
		return balances, nil
	}
	var ids []any
	for _, r := range b.records {
		ids = append(ids, r.id)
	}
	err := b.query("SELECT patient_id, current_balance FROM accounts WHERE practice_id = $1", []any{b.practice.id}, "patient_id", ids, func(values []any) {
		balances[asText(values[0])] = values[1]
	})
	return balances, err
}

// compare compares what a row claims of a total with what it is; nil where they
// agree, or nothing is claimed.
func (p *plan) compare(t *target, r *record, k kind, is any) (*finding, error) {
	claims := p.text(t, r.cells)
	if claims == "" {
		return nil, nil
	}
	computed, _, err := k.show(is)
	if err != nil {
		return nil, fmt.Errorf("transfer: %s: %w", t.field, err)
	}
	f := &finding{file: p.name, line: r.line, legacy: r.legacy, kind: difference, field: t.field, claimed: claims, computed: computed}
	read, message := foreignValue(t.wire, claims, &t.read)
	if message == "" && t.wire.Kind == codec.Decimal {
		d, err := decimal.Parse(t.negated(read))
		if err != nil {
			message = err.Error()
		}
		read = d.String()
	}
	switch {
	case message != "":
		f.message = "cannot be compared: " + message
	case read == computed, t.field == "status" && unpaid(read) && unpaid(computed):
		return nil, nil
	default:
		f.claimed, f.message = read, "differs from what the records come to"
	}
	return f, nil
}

// warnOfDoubleBookings points at appointments to come that this import has
// written although the practitioner has another one at that time. The other
// system has let it happen, and so it is kept. Which of several files of
// appointments one is from is not known.
func (im *importer) warnOfDoubleBookings() error {
	var p *plan
	var names []string
	for _, other := range im.plans {
		if other.entity.table == "appointments" && !slices.Contains(names, other.name) {
			p, names = other, append(names, other.name)
		}
	}
	if p == nil {
		return nil
	}
	var file string
	if len(names) == 1 {
		file = names[0]
	}
	var findings [][]string
	err := im.inTx(func(tx *sql.Tx, bulk *bulk.Tx) error {
		findings = nil
		b := &batch{importer: im, plan: p, tx: tx, bulk: bulk}
		type pair struct{ own, other string } // ids; the other may be one of this import too
		var pairs []pair
		var ids []any
		err := b.rows(`SELECT a.id, b.id, b.updated_at >= $2 FROM appointments AS a JOIN appointments AS b
				ON b.practice_id = a.practice_id AND b.practitioner_id = a.practitioner_id
				AND b.start_time >= a.start_time AND b.start_time < a.finish_time AND (b.start_time > a.start_time OR b.id > a.id)
			WHERE a.practice_id = $1 AND a.start_time >= $2 AND (a.updated_at >= $2 OR b.updated_at >= $2)
				AND a.state NOT IN ('Cancelled', 'Did not attend') AND b.state NOT IN ('Cancelled', 'Did not attend')
			ORDER BY a.start_time, a.id, b.id`, []any{im.practice.id, im.started}, func(v []any) {
			two := pair{asText(v[1]), asText(v[0])}
			if later := asText(v[2]); later != "1" && later != "true" {
				two = pair{two.other, two.own}
			}
			pairs, ids = append(pairs, two), append(ids, two.own, two.other)
		})
		if err != nil {
			return err
		}
		legacy, err := b.legacyIDs(p.entity, ids)
		for _, two := range pairs {
			other := "id " + two.other
			if l, ok := legacy[two.other]; ok {
				other = "legacy id " + l
			}
			f := finding{file: file, legacy: legacy[two.own], kind: warning, field: "start_time", message: "the practitioner is booked twice: it overlaps the appointment with the " + other}
			findings = append(findings, f.record())
		}
		return err
	})
	if err != nil || len(findings) == 0 {
		return err
	}
	im.note.Warnings += len(findings)
	im.note.Findings, err = im.findings.write(findings...)
	return err
}

// unpaid reports whether an invoice of a status is still to be paid: other
// systems rarely tell new ones from sent or partly paid ones.
func unpaid(status string) bool {
	return status != string(schema.InvoicePaid) && status != string(schema.InvoiceVoid)
}
