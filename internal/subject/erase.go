package subject

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/audit/trail"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/events/idempotency"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/schema"
)

// NotReached is what an erasure does not reach.
var NotReached = []string{
	"backups and exports: an import of an old one brings the patient back",
	"folders of \"chairside extract\": begin again with an empty one",
	"files that were handed over",
	"what receivers of webhooks and API clients have copied",
	"the server's logs, which have ids",
	"texts in which other records name the patient, such as an emergency contact",
}

// Erasure is what an erasure did, or would do.
type Erasure struct {
	Person  string  // the patient before the erasure: see Person
	Keeping Keeping // before the erasure
	Removed []Rows  // rows that no longer exist
	Blanked []Rows  // rows that stay without what identifies the patient
	Stays   []Rows  // rows that stay, with the reason
}

// Rows are rows of a table.
type Rows struct {
	Table string
	Rows  int64
	Note  string // the blanked columns, or why the rows stay
}

// Words returns the note with spaces in the names of columns, for a page.
func (r Rows) Words() string { return strings.ReplaceAll(r.Note, "_", " ") }

// Person returns the name and the date of birth of a patient of the caller's practice, by which an
// operator recognises the person, and whether it was erased already. They are for a terminal, not for
// a log. It returns ent's error for a row that does not exist if the practice has no such patient.
func Person(ctx context.Context, db *store.DB, id int64) (name string, erased bool, err error) {
	p, err := db.Ent.Patient.Get(ctx, id)
	if err != nil {
		return "", false, err
	}
	return person(p), p.ErasedAt != nil, nil
}

func person(p *ent.Patient) string {
	return fmt.Sprintf("%s, born %s", schema.FullName(p.FirstName, p.LastName), p.DateOfBirth)
}

// eraser erases a patient in a transaction.
type eraser struct {
	db       *store.DB
	tx       *sql.Tx
	counts   bool // count the rows instead of removing or blanking them
	practice *ent.Practice
	patient  *ent.Patient
	ids      map[string]map[string]bool // of rows about the patient, by table and type; also of rows deleted before
	result   *Erasure
}

// Check returns what an erasure would do. It counts the rows in one snapshot, so it locks and changes
// nothing, and the role that serves requests may ask. The error is as that of Erase. With a Refusal it
// still returns what an erasure would do once the record may be erased; a patient who was erased already
// is a Refusal without any rows.
func Check(ctx context.Context, db *store.DB, patient int64) (*Erasure, error) {
	caller := principal.Must(ctx)
	if caller.SiteID != nil {
		return nil, errSite
	}
	ctx = clock.With(ctx, clock.Now(ctx)) // one reading
	e := &eraser{db: db, counts: true, result: &Erasure{}}
	err := db.Snapshot(ctx, func(client *ent.Client, tx *sql.Tx) (err error) {
		e.tx = tx
		if e.practice, err = client.Practice.Get(ctx, caller.PracticeID); err != nil {
			return err
		}
		if err := e.read(ctx, patient, caller.Zone); err != nil || e.patient.ErasedAt != nil {
			return err
		}
		if err := e.run(ctx); err != nil {
			return fmt.Errorf("subject: count what an erasure of patient %d would reach: %w", patient, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.result, e.refusal(ctx, caller.Zone)
}

// Erase removes or blanks everything that identifies a patient of the caller's practice, in one
// transaction with one entry of the audit log. A Refusal, if the law or a legal hold keeps the
// record, is an entry too. Of a patient who was erased already it only scrubs the files again, because
// an earlier call may not have been able to; the result's Keeping has the time of the erasure. It returns
// ent's error for a row that does not exist if the practice has no such patient.
func Erase(ctx context.Context, db *store.DB, patient int64) (*Erasure, error) {
	caller := principal.Must(ctx)
	if caller.SiteID != nil {
		return nil, errSite
	}
	ctx = clock.With(ctx, clock.Now(ctx)) // one reading
	practice, err := db.Ent.Practice.Get(ctx, caller.PracticeID)
	if err != nil {
		return nil, err
	}
	e := &eraser{db: db, practice: practice, result: &Erasure{}}
	refusal, err := e.erase(ctx, patient, caller.Zone)
	if err != nil {
		return nil, err
	}
	if refusal != nil {
		return e.result, refusal
	}
	if err := db.Scrub(ctx); err != nil {
		return e.result, fmt.Errorf("patient %d is erased, but %w; run the command again to empty it", patient, err)
	}
	return e.result, nil
}

// erase is Erase in its transaction.
func (e *eraser) erase(ctx context.Context, id int64, zone *time.Location) (refusal, err error) {
	if e.tx, err = e.db.SQL.BeginTx(ctx, nil); err != nil {
		return nil, err
	}
	defer e.tx.Rollback() // after a commit it does nothing
	if err := e.read(ctx, id, zone); err != nil || e.patient.ErasedAt != nil {
		return nil, err
	}
	if refusal = e.refusal(ctx, zone); refusal != nil {
		err = e.record(ctx, "refuse", map[string]any{"reason": e.reason()})
	} else if err = e.run(ctx); err != nil {
		err = fmt.Errorf("subject: erase patient %d: %w", id, err)
	}
	if err != nil {
		return nil, err
	}
	return refusal, e.tx.Commit()
}

// read reads the patient and what keeps the record.
func (e *eraser) read(ctx context.Context, id int64, zone *time.Location) (err error) {
	if err := e.lock(ctx, id); err != nil {
		return err
	}
	e.result.Person = person(e.patient)
	e.result.Keeping, err = keeping(ctx, e.tx, e.practice, e.patient, zone)
	return err
}

// refusal returns why the record cannot be erased now, or nil.
func (e *eraser) refusal(ctx context.Context, zone *time.Location) error {
	return e.result.Keeping.Refuse(civil.Of(clock.Now(ctx).In(zone)))
}

// reason returns what the audit log keeps of a refusal: not the text of a hold, which may identify
// the patient.
func (e *eraser) reason() string {
	if k := e.result.Keeping; k.HeldAt == nil {
		return "kept until " + k.Until.String()
	}
	return "legal hold"
}

// lock reads the patient. Unless it only counts, it keeps others from changing or referring to the row.
func (e *eraser) lock(ctx context.Context, id int64) error {
	query := "SELECT id FROM patients WHERE practice_id = $1 AND id = $2"
	if e.db.Dialect == dialect.Postgres && !e.counts {
		query += " FOR UPDATE"
	}
	switch err := e.tx.QueryRowContext(ctx, query, e.practice.ID, id).Scan(&id); {
	case err == sql.ErrNoRows:
		return &ent.NotFoundError{}
	case err != nil:
		return err
	}
	p := &ent.Patient{ID: id, PracticeID: e.practice.ID}
	e.patient = p
	return e.tx.QueryRowContext(ctx, "SELECT first_name, last_name, created_at, date_of_birth, erased_at, legal_hold_at, legal_hold_reason FROM patients WHERE practice_id = $1 AND id = $2", e.practice.ID, id).
		Scan(&p.FirstName, &p.LastName, &p.CreatedAt, &p.DateOfBirth, &p.ErasedAt, &p.LegalHoldAt, &p.LegalHoldReason)
}

// run erases the patient, or counts the rows. Counts are in the order of ent.Tables.
func (e *eraser) run(ctx context.Context) error {
	removed, kept := map[string]int64{}, map[string]int64{}
	if err := e.collect(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context, map[string]int64) error{e.removeCopies, e.clearReferences, e.removeRows, e.updateTotals} {
		if err := step(ctx, removed); err != nil {
			return err
		}
	}
	if err := e.blankRows(ctx, kept); err != nil {
		return err
	}
	changed := map[string]int64{}
	for _, t := range ent.Tables {
		if n := removed[t.Name]; n > 0 {
			e.result.Removed = append(e.result.Removed, Rows{Table: table.Title(t.Name), Rows: n})
		}
		columns := blanked(t)
		n := kept[t.Name]
		if n == 0 {
			continue
		}
		if len(columns) > 0 {
			names := make([]string, 0, len(columns))
			for _, c := range columns {
				if c.Name != "updated_at" && c.Name != "erased_at" {
					names = append(names, c.Name)
				}
			}
			changed[t.Name] = n
			e.result.Blanked = append(e.result.Blanked, Rows{table.Title(t.Name), n, strings.Join(names, ", ")})
		}
		e.result.Stays = append(e.result.Stays, Rows{table.Title(t.Name), n, keptTables[t.Name]})
	}
	if e.counts {
		return nil
	}
	return e.record(ctx, "erase", map[string]any{"removed": removed, "blanked": changed})
}

// record writes the entry of the audit log.
func (e *eraser) record(ctx context.Context, action string, details map[string]any) error {
	return trail.WriteIn(ctx, e.db, e.tx, trail.Entry{
		Who: trail.Caller(ctx, principal.Must(ctx)), At: clock.Now(ctx), Action: action, Operation: "subject erase",
		Resource: ent.TypePatient, Record: strconv.FormatInt(e.patient.ID, 10), Patient: e.patient.ID, Details: details,
	})
}

// where returns the condition of the rows of t about the patient.
func where(t *table.Table) string { return condition(t) + " AND " + practiceColumn(t) + " = $1" }

// exec executes a statement with the practice as $1, the patient as $2 and further arguments.
func (e *eraser) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := e.tx.ExecContext(ctx, query, append([]any{e.practice.ID, e.patient.ID}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	return result.RowsAffected()
}

// remove deletes rows of a table, or counts them, with arguments as for exec.
func (e *eraser) remove(ctx context.Context, name, condition string, args ...any) (n int64, err error) {
	rows := " FROM " + table.Quote(name) + " WHERE " + condition
	if !e.counts {
		return e.exec(ctx, "DELETE"+rows, args...)
	}
	query := "SELECT count(*)" + rows
	if err := e.tx.QueryRowContext(ctx, query, append([]any{e.practice.ID, e.patient.ID}, args...)...).Scan(&n); err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	return n, nil
}

// collect reads the ids of rows about the patient, including rows deleted earlier, which the audit
// log names: webhook logs may still hold copies of them.
func (e *eraser) collect(ctx context.Context) error {
	e.ids = map[string]map[string]bool{}
	for _, t := range ent.Tables {
		if condition(t) == "" || t.Name == auditevent.Table {
			continue
		}
		of := map[string]bool{}
		e.ids[t.Name], e.ids[t.Type] = of, of
		err := e.each(ctx, "SELECT "+table.Quote(t.Name)+".id, '' FROM "+table.Quote(t.Name)+" WHERE "+where(t), t.Columns[0].Stored, func(id, _ string) { of[id] = true })
		if err != nil {
			return err
		}
	}
	return e.each(ctx, "SELECT DISTINCT record_id, resource FROM audit_events WHERE practice_id = $1 AND patient_id = $2 AND record_id IS NOT NULL AND resource IS NOT NULL", table.Text, func(id, resource string) {
		if of := e.ids[resource]; of != nil {
			of[id] = true
		}
	})
}

// each calls f for each row of a query of two columns, an id and a text.
func (e *eraser) each(ctx context.Context, query string, kind table.Kind, f func(id, text string)) error {
	rows, err := e.tx.QueryContext(ctx, query, e.practice.ID, e.patient.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var scanned any
		var text string
		if err := rows.Scan(&scanned, &text); err != nil {
			return err
		}
		id, _, err := kind.Format(scanned)
		if err != nil {
			return err
		}
		f(id, text)
	}
	return rows.Err()
}

// removeCopies removes what logs and stored responses hold of the patient's records: ids in a
// previous system, deliveries to webhooks with their requests, and responses for idempotency keys
// of tokens that wrote or read the records while such a response is stored.
func (e *eraser) removeCopies(ctx context.Context, removed map[string]int64) error {
	for _, t := range ent.Tables {
		if !isLog(t) {
			continue
		}
		for resource, of := range e.ids {
			for batch := range slices.Chunk(slices.Sorted(maps.Keys(of)), logBatch) {
				args, places := []any{resource}, make([]string, len(batch))
				for i, id := range batch {
					args = append(args, id)
					places[i] = "$" + strconv.Itoa(len(args)+2)
				}
				named := "practice_id = $1 AND CAST($2 AS bigint) IS NOT NULL AND resource = $3 AND record_id IN (" + strings.Join(places, ", ") + ")"
				if t.Name == "webhook_deliveries" {
					n, err := e.remove(ctx, "webhook_attempts", "delivery_id IN (SELECT id FROM webhook_deliveries WHERE "+named+")", args...)
					if err != nil {
						return err
					}
					removed["webhook_attempts"] += n
					named += " AND settled_at IS NOT NULL" // the others have ids alone: receivers learn that the records changed
				}
				n, err := e.remove(ctx, t.Name, named, args...)
				if err != nil {
					return err
				}
				removed[t.Name] += n
			}
		}
	}
	n, err := e.remove(ctx, "idempotency_keys", "practice_id = $1 AND token_id IN (SELECT token_id FROM audit_events WHERE token_id IS NOT NULL AND at >= $3 AND "+where(find(auditevent.Table))+")",
		clock.Now(ctx).Add(-idempotency.Retention))
	removed["idempotency_keys"] += n
	return err
}

// clearReferences sets references to null whose rows will be removed.
func (e *eraser) clearReferences(ctx context.Context, _ map[string]int64) error {
	if e.counts {
		return nil
	}
	for _, t := range ent.Tables {
		for _, c := range cleared(t) {
			to := find(c.References)
			column := table.Quote(c.Name)
			query := "UPDATE " + table.Quote(t.Name) + " SET " + column + " = NULL WHERE " + column + " IN (SELECT " + table.Quote(to.Name) + ".id FROM " + table.Quote(to.Name) + " WHERE " + where(to) + ")"
			if removes(t) {
				query += " AND NOT " + condition(t)
			}
			if _, err := e.exec(ctx, query); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeRows removes the rows that do not stay.
func (e *eraser) removeRows(ctx context.Context, removed map[string]int64) error {
	for _, t := range removalOrder() {
		n, err := e.remove(ctx, t.Name, where(t))
		if err != nil {
			return err
		}
		removed[t.Name] += n
	}
	return nil
}

// updateTotals updates the totals of rows that stay, which may have lost rows that they add up: an account
// has no planned treatment any more.
func (e *eraser) updateTotals(ctx context.Context, _ map[string]int64) error {
	if e.counts {
		return nil
	}
	for _, total := range schema.Totals {
		if keptTables[total.Table] == "" {
			continue
		}
		name, column := table.Quote(total.Table), table.Quote(total.Column)
		own := "SELECT " + name + ".id FROM " + name + " WHERE " + where(find(total.Table))
		_, err := e.exec(ctx, "UPDATE "+name+" AS t SET "+column+" = "+total.SQL+", updated_at = $3 WHERE t.practice_id = $1 AND t.id IN ("+own+") AND t."+column+" <> "+total.SQL, clock.Now(ctx))
		if err != nil {
			return err
		}
	}
	return nil
}

// blankRows blanks the rows that stay, and counts them.
func (e *eraser) blankRows(ctx context.Context, kept map[string]int64) error {
	for _, t := range ent.Tables {
		if keptTables[t.Name] == "" {
			continue
		}
		var n int64
		if err := e.tx.QueryRowContext(ctx, "SELECT count(*) FROM "+table.Quote(t.Name)+" WHERE "+where(t), e.practice.ID, e.patient.ID).Scan(&n); err != nil {
			return err
		}
		kept[t.Name] = n
		columns := blanked(t)
		if len(columns) == 0 || n == 0 || e.counts {
			continue
		}
		var args []any
		set := make([]string, len(columns))
		for i, c := range columns {
			value, _ := blank(t, c, clock.Now(ctx))
			if value == nil {
				set[i] = table.Quote(c.Name) + " = NULL"
				continue
			}
			args = append(args, value)
			set[i] = table.Quote(c.Name) + " = $" + strconv.Itoa(len(args)+2)
		}
		if _, err := e.exec(ctx, "UPDATE "+table.Quote(t.Name)+" SET "+strings.Join(set, ", ")+" WHERE "+where(t), args...); err != nil {
			return err
		}
	}
	return nil
}
