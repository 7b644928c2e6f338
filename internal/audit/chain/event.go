package chain

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/entx/table"
)

// event is an entry of the audit log.
type event struct {
	id                          int64
	practice                    uuid.UUID
	at                          time.Time
	action                      string
	resource, record            sql.NullString
	patient, user               sql.NullInt64
	token, session, application uuid.NullUUID
	request, operation          sql.NullString
	status                      sql.NullInt64
	fields, details             []byte
}

// columns are the columns of an event, in the order of scan.
const columns = "id, practice_id, at, action, resource, record_id, patient_id, user_id, token_id, session_id, application_id, request_id, operation, status, fields, details"

func (e *event) scan(rows *sql.Rows) error {
	return rows.Scan(&e.id, &e.practice, &e.at, &e.action, &e.resource, &e.record, &e.patient, &e.user, &e.token, &e.session, &e.application, &e.request, &e.operation, &e.status, &e.fields, &e.details)
}

// digest is the SHA-256 of an entry.
type digest = [sha256.Size]byte

// digest returns the digest of the entry's content: of everything but its transaction, which another
// database calls otherwise. The transaction only says which entries may be sealed. Changed before,
// it leaves the entry in no block; changed afterwards, it changes nothing, because blocks name entries by
// their ids. Both databases, and a restored copy, give the
// same: documents are in canonical form and times in microseconds. Every value is preceded by its
// length, so that no two entries have the same text.
func (e *event) digest(buffer []byte) (digest, []byte, error) {
	b := append(buffer[:0], "chairside audit entry 1\n"...)
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s))+1)
		b = append(b, s...)
	}
	optional := func(s string, valid bool) {
		if valid {
			text(s)
		} else {
			b = append(b, 0)
		}
	}
	number := func(n int64, valid bool) { optional(strconv.FormatInt(n, 10), valid) }
	number(e.id, true)
	text(e.practice.String())
	number(e.at.UnixMicro(), true)
	text(e.action)
	optional(e.resource.String, e.resource.Valid)
	optional(e.record.String, e.record.Valid)
	number(e.patient.Int64, e.patient.Valid)
	number(e.user.Int64, e.user.Valid)
	optional(e.token.UUID.String(), e.token.Valid)
	optional(e.session.UUID.String(), e.session.Valid)
	optional(e.application.UUID.String(), e.application.Valid)
	optional(e.request.String, e.request.Valid)
	optional(e.operation.String, e.operation.Valid)
	number(e.status.Int64, e.status.Valid)
	for _, document := range [][]byte{e.fields, e.details} {
		canonical, err := table.Canonical(string(document))
		if err != nil {
			return digest{}, b, fmt.Errorf("audit event %d: %w", e.id, err)
		}
		text(canonical)
	}
	return sha256.Sum256(b), b, nil
}

// patients returns the patients of a read.
func (e *event) patients() ([]int64, error) {
	if e.action != "read" {
		return nil, nil
	}
	var details struct{ Patients []int64 }
	err := json.Unmarshal(e.details, &details)
	return details.Patients, err
}

// block is a block of a chain.
type block struct {
	id             int64
	practice       uuid.UUID
	number         int64
	at             time.Time
	position       // up to where its run sealed the entries of all practices
	entries        []byte
	previous, hash []byte
}

const (
	idSize    = 8
	entrySize = idSize + sha256.Size
)

// appendEntry adds an entry to a block.
func appendEntry(entries []byte, id int64, d digest) []byte {
	return append(binary.BigEndian.AppendUint64(entries, uint64(id)), d[:]...)
}

// len returns the number of entries.
func (b *block) len() int { return len(b.entries) / entrySize }

// entry returns an entry.
func (b *block) entry(i int) (id int64, d digest) {
	e := b.entries[i*entrySize : (i+1)*entrySize]
	return int64(binary.BigEndian.Uint64(e)), digest(e[idSize:])
}

// sum returns the hash that the block must have.
func (b *block) sum() []byte {
	h := sha256.New()
	fmt.Fprintf(h, "chairside audit block 1\n%s\n%d\n%d\n%d\n%d\n%d\n", b.practice, b.number, b.at.UnixMicro(), b.through, b.floor, len(b.entries))
	h.Write(b.previous)
	h.Write(b.entries)
	return h.Sum(nil)
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// in returns the condition that a column is one of ids, for argument n, and the argument.
func in(dialectName, column string, n int, ids []int64) (condition string, arg any) {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	list := strings.Join(text, ",")
	if dialectName == dialect.Postgres {
		return fmt.Sprintf("%s = ANY(CAST($%d AS bigint[]))", column, n), "{" + list + "}"
	}
	return fmt.Sprintf("%s IN (SELECT value FROM json_each($%d))", column, n), "[" + list + "]"
}

// forEach runs a query and calls scan for each row.
func forEach(ctx context.Context, q querier, query string, scan func(*sql.Rows) error, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
