package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	gen "entgo.io/ent"
	"entgo.io/ent/dialect/sql/sqlgraph"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/entx"
	"chairside/internal/principal"
)

// errNoTransaction refuses a write that could not be recorded together with
// its record.
var errNoTransaction = errors.New("store: a write needs a transaction: use DB.Tx")

// errAppendOnly refuses to change or remove what was recorded.
var errAppendOnly = errors.New("store: the record of changes is append-only")

// quiet are columns whose change alone is no change worth a record.
var quiet = []string{"last_used_at", "last_login", "totp_step", "updated_at"}

// unrecorded are kinds of row that come and go by themselves, and whose writes
// need no transaction: what they lead to (a token, a changed user) is recorded.
var unrecorded = []string{ent.TypeAuthorizationCode, ent.TypeSession, ent.TypeSignInAttempt, ent.TypeImportRun, ent.TypeImportedRecord}

// record appends one row to the audit log for every row that is
// created, changed or deleted, in the same transaction: who, when, what, and
// the names of the changed columns, never their values. The statement that
// writes a row may have done so already.
func record(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if _, err := principal.From(ctx); err != nil && !principal.IsSystem(ctx) {
			return nil, err
		}
		switch {
		case m.Type() == ent.TypeChange && !m.Op().Is(ent.OpCreate):
			return nil, errAppendOnly
		case m.Type() == ent.TypeChange || slices.Contains(unrecorded, m.Type()) || isQuiet(m):
			return next.Mutate(ctx, m)
		}
		changes, inTransaction := m.(interface {
			Changes() (*ent.ChangeClient, bool)
		}).Changes()
		if !inTransaction {
			return nil, errNoTransaction
		}
		practice, err := practiceOf(ctx, m)
		if err != nil {
			return nil, err
		}
		action, ok := actions[m.Op()]
		if !ok {
			return nil, fmt.Errorf("store: many rows of %s at once cannot be recorded", m.Type())
		}
		change := func() *ent.ChangeCreate {
			fields := []string{}
			if action != "delete" {
				fields = append(m.Fields(), m.ClearedFields()...)
				slices.Sort(fields)
			}
			return by(ctx, changes.Create()).SetPracticeID(practice).SetAt(clock.Now(ctx)).SetResource(m.Type()).SetAction(action).SetFields(fields)
		}
		ctx, record := entx.WithRecord(ctx, m, func(ctx context.Context) (*sqlgraph.CreateSpec, error) { return change().SpecOfWritten(ctx) })
		value, err := next.Mutate(ctx, m)
		if err != nil || record.Written() {
			return value, err
		}
		id, err := recordID(m)
		if err != nil {
			return nil, err
		}
		if m.Type() == ent.TypePractice && m.Op().Is(ent.OpCreate) {
			practice = uuid.MustParse(id)
		}
		_, err = change().SetRecordID(id).Save(ctx)
		return value, err
	})
}

// actions are the mutations of one row.
var actions = map[ent.Op]string{ent.OpCreate: "create", ent.OpUpdateOne: "update", ent.OpDeleteOne: "delete"}

// by notes who makes a change.
func by(ctx context.Context, change *ent.ChangeCreate) *ent.ChangeCreate {
	c, err := principal.From(ctx)
	if err != nil { // the system
		return change
	}
	if c.UserID != 0 {
		change.SetUserID(c.UserID)
	}
	if c.TokenID != uuid.Nil {
		change.SetTokenID(c.TokenID)
	}
	return change
}

// isQuiet reports whether m changes nothing but quiet columns.
func isQuiet(m ent.Mutation) bool {
	loud := func(column string) bool { return !slices.Contains(quiet, column) }
	return m.Op().Is(ent.OpUpdate|ent.OpUpdateOne) && len(m.ClearedFields()) == 0 && !slices.ContainsFunc(m.Fields(), loud)
}

// practiceOf is the practice whose row is written.
func practiceOf(ctx context.Context, m ent.Mutation) (uuid.UUID, error) {
	if c, err := principal.From(ctx); err == nil {
		return c.PracticeID, nil
	}
	if m.Type() == ent.TypePractice {
		if m.Op().Is(ent.OpCreate) {
			return uuid.Nil, nil // known when the row is there
		}
		id, err := recordID(m)
		if err != nil {
			return uuid.Nil, err
		}
		return uuid.Parse(id)
	}
	v, ok := m.Field("practice_id")
	if !ok {
		var err error
		if v, err = m.OldField(ctx, "practice_id"); err != nil {
			return uuid.Nil, err
		}
	}
	id, ok := v.(uuid.UUID)
	if !ok {
		return uuid.Nil, fmt.Errorf("store: the practice of %s is %T", m.Type(), v)
	}
	return id, nil
}

func recordID(m ent.Mutation) (string, error) {
	switch m := m.(type) {
	case interface{ ID() (int64, bool) }:
		if id, ok := m.ID(); ok {
			return strconv.FormatInt(id, 10), nil
		}
	case interface{ ID() (uuid.UUID, bool) }:
		if id, ok := m.ID(); ok {
			return id.String(), nil
		}
	}
	return "", fmt.Errorf("store: a %s without an id", m.Type())
}

// noteReads tells the request's access log which records of patient data a
// query has given. What is read without ent's entities (Rows) is noted by the
// code that reads it. Answers to custom fields are not: their owners are.
func noteReads() gen.Interceptor {
	return entx.Observer(func(ctx context.Context, found ent.Value, err error) {
		if err == nil {
			log := audit.From(ctx)
			ent.Subjects(found, log.Note, log.NoteUUID)
		}
	})
}
