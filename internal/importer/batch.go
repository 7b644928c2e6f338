package importer

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"chairside/internal/entx/table"
	"chairside/internal/store/bulk"
)

// batch is some rows of a file on their way into the database, in one transaction.
type batch struct {
	*importer
	plan *plan
	tx   *sql.Tx
	bulk *bulk.Tx
	now  time.Time // when it is written, long after a large import began
	turn *turn     // of a batch that is stored
	err  error     // the first failure, after which nothing is read or written

	comparing bool // it only compares totals

	records []*record                 // those without problems so far
	parents map[string]map[string]row // by reference and id: columns of the record
}

// inTx runs work in its own transaction or, in a dry run, in a savepoint of the only one. If work
// fails, its changes are rolled back.
func (im *importer) inTx(p *plan, work func(b *batch)) (err error) {
	b := &batch{importer: im, plan: p, tx: im.dry, now: im.clock()}
	if im.dry == nil {
		if b.tx, err = im.db.SQL.BeginTx(im.ctx, nil); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer b.tx.Rollback() // after a commit it does nothing
	}
	b.bulk, b.err = bulk.Join(im.ctx, im.db, b.tx)
	if im.dry != nil {
		b.exec("SAVEPOINT batch")
	}
	if b.err == nil {
		work(b)
	}
	switch {
	case im.dry == nil && b.err == nil:
		return b.tx.Commit()
	case im.dry == nil:
		return b.err
	case b.err == nil:
		b.exec("RELEASE SAVEPOINT batch")
		return b.err
	}
	_, undone := im.dry.ExecContext(im.ctx, "ROLLBACK TO SAVEPOINT batch")
	return errors.Join(b.err, undone)
}

// fail keeps the first error, if there is one.
func (b *batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *batch) exec(statement string, args ...any) {
	if b.err == nil {
		_, err := b.tx.ExecContext(b.ctx, statement, args...)
		b.fail(err)
	}
}

// queryRow reads the single row of a query.
func (b *batch) queryRow(query string, args []any, into ...any) {
	if b.err == nil {
		b.fail(b.tx.QueryRowContext(b.ctx, query, args...).Scan(into...))
	}
}

// rows runs a query and calls each for every row.
func (b *batch) rows(query string, args []any, each func(values []any)) {
	if b.err != nil {
		return
	}
	rows, err := b.tx.QueryContext(b.ctx, query, args...)
	if err != nil {
		b.fail(err)
		return
	}
	defer rows.Close()
	names, err := rows.Columns()
	for b.fail(err); b.err == nil && rows.Next(); {
		values, places := table.Scan(len(names))
		if b.fail(rows.Scan(places...)); b.err == nil {
			each(values)
		}
	}
	b.fail(rows.Err())
}

// query runs a query for the practice's rows in which a column has one of the values. Its
// arguments are the practice and then more.
func (b *batch) query(statement, column string, in []any, each func(values []any), more ...any) {
	if len(in) > 0 {
		condition, list := b.bulk.In(column, len(more)+2, in)
		b.rows(statement+" AND "+condition, append(append([]any{b.practice.id}, more...), list), each)
	}
}

// selected reads columns, as they are stored, of the practice's rows in which a column has one of
// the values.
func (b *batch) selected(e *entity, columns []string, column string, in []any, each func(r row)) {
	b.query(selectFrom(e, columns)+"practice_id = $1", column, in, func(values []any) {
		if r := b.stored(e, columns, values); b.err == nil {
			each(r)
		}
	})
}

func selectFrom(e *entity, columns []string) string {
	return "SELECT " + table.Quote(columns...) + " FROM " + table.Quote(e.Name) + " WHERE "
}

// stored returns the values of a query for these columns as a row, in their stored form.
func (b *batch) stored(e *entity, columns []string, values []any) row {
	r := make(row, len(values))
	for i, name := range columns {
		v, err := e.Column(name).Stored.Stored(values[i])
		if err != nil {
			b.fail(fmt.Errorf("%s.%s %w", e.Name, name, err))
		}
		r[name] = v
	}
	return r
}

// number returns a value of a query as a whole number.
func (b *batch) number(v any) int64 {
	n, err := table.Int(v)
	b.fail(err)
	return n
}

func asText(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case []byte:
		return string(t)
	case int64:
		return strconv.FormatInt(t, 10)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// sound removes the records that have problems.
func (b *batch) sound() {
	b.records = slices.DeleteFunc(slices.Clone(b.records), func(r *record) bool { return len(r.problems) > 0 })
}

// run writes the records without problems and counts the others as rejected.
func (b *batch) run(records []*record, counts *fileProgress) {
	b.records = slices.DeleteFunc(slices.Clone(records), func(r *record) bool { return r.keys == nil })
	b.findReferences() // also of records with other problems, so that all are reported at once
	b.records = records
	for _, step := range []func(){b.findRows, b.findParents, b.adopt, b.applyRules, b.refuseTwins, b.warnOfDuplicates} {
		b.sound()
		step()
	}
	b.sound()
	counts.Rejected += len(records) - len(b.records)
	if b.err == nil {
		b.write(counts)
	}
}

// findRows finds the rows that earlier imports made of the records, by their legacy ids.
func (b *batch) findRows() {
	var wanted []string
	for _, r := range b.records {
		if r.legacy != "" {
			wanted = append(wanted, r.raw)
		}
	}
	known := b.imported(b.plan.entity, b.first.Load(), wanted)
	for _, r := range b.records {
		ids := known[r.raw]
		switch {
		case r.legacy == "" || len(ids) == 0:
		case len(ids) > 1:
			r.refuse(legacyID, "is that of more than one record")
		default:
			r.id, r.linked = b.plan.entity.id(ids[0].id), ids[0].spellings
		}
	}
	b.readExisting()
}

// link is a row that a legacy id belongs to.
type link struct {
	id        string
	spellings []string // in imported_records; none if only the row has it
}

// imported finds rows by their legacy ids, as files spell them: in imported_records, unless none
// says that nothing was imported before, and in the rows' own legacy_id. If spellings of one legacy
// id belong to different rows, it returns all of them.
func (b *batch) imported(e *entity, none bool, legacy []string) map[string][]link {
	found := map[string][]link{}
	if none && !e.Has(legacyID) {
		return found
	}
	add := func(raw, id string, spellings ...string) {
		k := slices.IndexFunc(found[raw], func(l link) bool { return l.id == id })
		if k < 0 {
			k = len(found[raw])
			found[raw] = append(found[raw], link{id: id})
		}
		found[raw][k].spellings = append(found[raw][k].spellings, spellings...)
	}
	var all []any
	of := map[string][]string{} // the legacy ids of a spelling
	for _, raw := range legacy {
		for _, s := range b.plan.spellings(raw) {
			if of[s] == nil {
				all = append(all, s)
			}
			of[s] = append(of[s], raw)
		}
	}
	if !none {
		b.query("SELECT legacy_id, record_id FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3", "legacy_id", all, func(v []any) {
			spelling := asText(v[0])
			for _, raw := range of[spelling] {
				add(raw, asText(v[1]), spelling)
			}
		}, b.source, e.Name)
	}
	if !e.Has(legacyID) { // clients of the API may write it at any time
		return found
	}
	remembered := map[string]bool{}
	for raw := range found {
		remembered[raw] = true
	}
	unknown := slices.DeleteFunc(all, func(s any) bool {
		return !slices.ContainsFunc(of[asText(s)], func(raw string) bool { return !remembered[raw] })
	})
	written := map[string]string{} // by the rows' ids
	var ids []any
	b.query("SELECT legacy_id, id FROM "+table.Quote(e.Name)+" WHERE practice_id = $1", "legacy_id", unknown, func(v []any) {
		id := asText(v[1])
		written[id], ids = asText(v[0]), append(ids, id)
	})
	// A row imported from another source is not this one's, even if the legacy id is the same.
	b.query("SELECT record_id FROM imported_records WHERE practice_id = $1 AND source <> $2 AND resource = $3", "record_id", ids,
		func(v []any) { delete(written, asText(v[0])) }, b.source, e.Name)
	for id, spelling := range written {
		for _, raw := range of[spelling] {
			if !remembered[raw] {
				add(raw, id)
			}
		}
	}
	return found
}

// legacyIDs returns the legacy ids of rows by their ids. If a row has several, it is the first in
// byte order.
func (b *batch) legacyIDs(e *entity, ids []any) map[string]string {
	legacy := map[string]string{}
	b.query("SELECT record_id, legacy_id FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3", "record_id", ids, func(v []any) {
		id, l := asText(v[0]), asText(v[1])
		if before, ok := legacy[id]; !ok || l < before {
			legacy[id] = l
		}
	}, b.source, e.Name)
	return legacy
}

// readExisting reads the rows of the records that have one.
func (b *batch) readExisting() {
	e := b.plan.entity
	byID := map[string]*record{}
	var ids []any
	for _, r := range b.records {
		if r.id == nil || r.existing != nil || len(r.problems) > 0 {
			continue
		}
		id := asText(r.id)
		if byID[id] != nil {
			r.refuse(legacyID, fmt.Sprintf("is another name for the record of line %d", byID[id].line))
			continue
		}
		byID[id] = r
		ids = append(ids, r.id)
	}
	columns := e.Names()
	if b.comparing {
		columns = slices.DeleteFunc(columns, func(name string) bool { return name != "id" && !e.isTotal(name) })
	}
	b.selected(e, columns, "id", ids, func(r row) { byID[asText(r["id"])].existing = r })
	for _, r := range byID {
		r.gone = r.existing == nil
	}
}
