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

// errNoTransaction refuses a write outside a transaction, which its audit log entry could not
// share.
var errNoTransaction = errors.New("store: a write needs a transaction: use DB.Tx")

// errAppendOnly refuses to change or delete rows of appendOnlyTypes.
var errAppendOnly = errors.New("store: the audit log and earlier texts of notes are append-only")

// appendOnlyTypes are entities that record history. Their rows are part of the writes that
// they record, so they have no audit log entries.
var appendOnlyTypes = []string{ent.TypeChange, ent.TypeNoteVersion}

// unauditedColumns are columns of use, not of content: an update of nothing else has no entry.
var unauditedColumns = []string{"last_used_at", "last_login", "totp_step", "updated_at"}

// unauditedTypes are entities whose writes have no entries and need no transaction. They are
// short-lived or bookkeeping, and what they lead to (a token, a changed user) is audited.
var unauditedTypes = []string{
	ent.TypeAuthorizationCode, ent.TypeRefreshToken, ent.TypeSession, ent.TypeSignInAttempt,
	ent.TypeImportRun, ent.TypeImportedRecord, ent.TypeIdempotencyKey, ent.TypeRateBucket, ent.TypeAppointmentHold,
}

// auditWrites is the hook that appends an entry to the audit log for every row that is
// created, changed or deleted, in the same transaction. An entry says who changed which row
// and when, with the names of the changed columns but never their values. The statement that
// writes the row may have written the entry already (entx.WritePrefix).
func auditWrites(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if _, err := principal.From(ctx); err != nil && !principal.IsSystem(ctx) {
			return nil, err
		}
		switch {
		case slices.Contains(appendOnlyTypes, m.Type()) && !m.Op().Is(ent.OpCreate):
			return nil, errAppendOnly
		case slices.Contains(appendOnlyTypes, m.Type()) || slices.Contains(unauditedTypes, m.Type()) || changesOnlyUnaudited(m):
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
			return nil, fmt.Errorf("store: many rows of %s cannot be written at once: the audit log needs the id of each", m.Type())
		}
		entry := func() *ent.ChangeCreate {
			fields := []string{}
			if action != "delete" {
				fields = append(m.Fields(), m.ClearedFields()...)
				slices.Sort(fields)
			}
			return setActor(ctx, changes.Create()).SetPracticeID(practice).SetAt(clock.Now(ctx)).SetResource(m.Type()).SetAction(action).SetFields(fields)
		}
		ctx, audited := entx.WithAuditEntry(ctx, m, func(ctx context.Context) (*sqlgraph.CreateSpec, error) { return entry().SpecOfWritten(ctx) })
		value, err := next.Mutate(ctx, m)
		if err != nil || audited.Written() {
			return value, err
		}
		id, err := recordID(m)
		if err != nil {
			return nil, err
		}
		if m.Type() == ent.TypePractice && m.Op().Is(ent.OpCreate) {
			practice = uuid.MustParse(id)
		}
		_, err = entry().SetRecordID(id).Save(ctx)
		return value, err
	})
}

// actions are the names of the mutations of one row.
var actions = map[ent.Op]string{ent.OpCreate: "create", ent.OpUpdateOne: "update", ent.OpDeleteOne: "delete"}

// setActor sets the user and the token of an entry; both stay empty for the system.
func setActor(ctx context.Context, change *ent.ChangeCreate) *ent.ChangeCreate {
	c, err := principal.From(ctx)
	if err != nil {
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

// changesOnlyUnaudited reports whether m is an update of unaudited columns only.
func changesOnlyUnaudited(m ent.Mutation) bool {
	audited := func(column string) bool { return !slices.Contains(unauditedColumns, column) }
	return m.Op().Is(ent.OpUpdate|ent.OpUpdateOne) && len(m.ClearedFields()) == 0 && !slices.ContainsFunc(m.Fields(), audited)
}

// practiceOf returns the practice whose row is written, or uuid.Nil for a practice that is
// being created.
func practiceOf(ctx context.Context, m ent.Mutation) (uuid.UUID, error) {
	if c, err := principal.From(ctx); err == nil {
		return c.PracticeID, nil
	}
	if m.Type() == ent.TypePractice {
		if m.Op().Is(ent.OpCreate) {
			return uuid.Nil, nil // it has no id yet
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

// recordID returns the id of the row that m has written.
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

// auditReads is the interceptor that notes the records of patient data that queries return in
// the request's access log. Code that reads rows without entities (Rows) notes them itself.
// Answers to custom fields are not noted: the records that they belong to are.
func auditReads() gen.Interceptor {
	return entx.Observer(func(ctx context.Context, found ent.Value, err error) {
		if err == nil {
			log := audit.From(ctx)
			ent.Subjects(found, log.Note, log.NoteUUID)
		}
	})
}
