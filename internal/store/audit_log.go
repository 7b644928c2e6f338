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
var appendOnlyTypes = []string{ent.TypeAuditEvent, ent.TypeAuditRead, ent.TypeAuditBlock, ent.TypeAuditCut, ent.TypeNoteVersion}

// unauditedColumns are columns of use, not of content: an update of nothing else has no entry.
var unauditedColumns = []string{"last_used_at", "last_login", "totp_step", "sign_count", "backed_up", "known_browsers", "updated_at"}

// unauditedTypes are entities whose writes have no entries and need no transaction. They are
// short-lived or bookkeeping, and what they lead to (a token, a changed user) is audited.
var unauditedTypes = []string{
	ent.TypeAuthorizationCode, ent.TypeRefreshToken, ent.TypeSession, ent.TypeSignInAttempt, ent.TypePasskeyChallenge,
	ent.TypeImportRun, ent.TypeImportedRecord, ent.TypeIdempotencyKey, ent.TypeRateBucket, ent.TypeAppointmentHold,
	ent.TypeWebhookDelivery, ent.TypeWebhookAttempt, ent.TypePracticeDeletion, ent.TypeLoggedRequest,
}

// auditWrites is the hook that appends an entry to the audit log for every row that is
// created, changed or deleted, in the same transaction. An entry says who changed which row
// and when, with the changed columns and their values (schema.AuditValueOf). The statement that
// writes the row may have written the entry already (entx.WritePrefix). Plain texts of sealed
// columns are sealed first, so that neither the row nor the entry has them.
func (db *DB) auditWrites(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if _, err := principal.From(ctx); err != nil && !principal.IsSystem(ctx) {
			return nil, err
		}
		if err := db.sealPlain(ctx, m); err != nil {
			return nil, err
		}
		switch {
		case slices.Contains(appendOnlyTypes, m.Type()) && !m.Op().Is(ent.OpCreate):
			return nil, errAppendOnly
		case slices.Contains(appendOnlyTypes, m.Type()) || slices.Contains(unauditedTypes, m.Type()) || changesOnlyUnaudited(m):
			return next.Mutate(ctx, m)
		}
		events, inTransaction := m.(interface {
			Changes() (*ent.AuditEventClient, bool)
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
		w := &auditedWrite{db: db, events: events, m: m, practice: practice, action: action}
		if err := w.load(ctx); err != nil {
			return nil, err
		}
		ctx, audited := entx.WithAuditEntry(ctx, m, func(ctx context.Context) (*sqlgraph.CreateSpec, error) {
			entry, err := w.entry(ctx)
			if err != nil {
				return nil, err
			}
			return entry.SpecOfWritten(ctx, m.Type() == ent.TypePatient)
		})
		value, err := next.Mutate(ctx, m)
		if err != nil || audited.Written() {
			return value, err
		}
		id, err := recordID(m)
		if err != nil {
			return nil, err
		}
		if m.Type() == ent.TypePractice && m.Op().Is(ent.OpCreate) {
			w.practice = uuid.MustParse(id)
		}
		entry, err := w.entry(ctx)
		if err != nil {
			return nil, err
		}
		if m.Type() == ent.TypePatient {
			patient, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				return nil, err
			}
			entry.SetPatientID(patient)
		}
		_, err = entry.SetRecordID(id).Save(ctx)
		return value, err
	})
}

// auditedWrite is a write of one row.
type auditedWrite struct {
	db       *DB
	events   *ent.AuditEventClient
	m        ent.Mutation
	before   ent.Mutation // its old columns are those of the row before the write; nil for a create
	practice uuid.UUID
	action   string
}

// load reads the row before it is written, unless the program has it already. The audit log does
// not say that the user has read it.
func (w *auditedWrite) load(ctx context.Context) error {
	if w.action == actionCreate {
		return nil
	}
	columns := ent.Columns[w.m.Type()]
	if len(columns) == 0 {
		return fmt.Errorf("store: %s has no columns", w.m.Type())
	}
	w.before = w.m.(interface{ Before() ent.Mutation }).Before()
	quiet, _ := audit.With(ctx)
	_, err := w.before.OldField(quiet, columns[0])
	if ent.IsNotFound(err) { // then the write says so
		w.before, err = nil, nil
	}
	return err
}

// entry returns the entry of the write, once all columns are set.
func (w *auditedWrite) entry(ctx context.Context) (*ent.AuditEventCreate, error) {
	entity, fields := w.m.Type(), []string{}
	written := ent.Columns[entity]
	if w.action != actionDelete {
		fields = append(w.m.Fields(), w.m.ClearedFields()...)
		slices.Sort(fields)
		written = fields
	}
	details, err := w.db.details(ctx, w.practice, w.m, w.before, w.action, written)
	if err != nil {
		return nil, err
	}
	create := setActor(ctx, w.events.Create(), w.practice).SetAt(clock.Now(ctx)).SetResource(entity).SetAction(w.action).SetFields(fields).SetDetails(details)
	if !slices.Contains(ent.Columns[entity], patientColumn) {
		return create, nil
	}
	patient, ok := w.m.Field(patientColumn)
	if !ok && w.before != nil {
		if patient, err = w.before.OldField(ctx, patientColumn); err != nil {
			return nil, err
		}
	}
	switch id := patient.(type) {
	case int64:
		create.SetPatientID(id)
	case *int64:
		create.SetNillablePatientID(id)
	}
	return create, nil
}

// patientColumn is the column that names the patient of a record.
const patientColumn = "patient_id"

// The actions of writes.
const (
	actionCreate = "create"
	actionUpdate = "update"
	actionDelete = "delete"
)

// actions are the names of the mutations of one row.
var actions = map[ent.Op]string{ent.OpCreate: actionCreate, ent.OpUpdateOne: actionUpdate, ent.OpDeleteOne: actionDelete}

// setActor sets the practice of an entry, the request, and the user, session, token and application that act. These stay
// empty for the system and for an actor of another practice.
func setActor(ctx context.Context, entry *ent.AuditEventCreate, practice uuid.UUID) *ent.AuditEventCreate {
	entry.SetPracticeID(practice)
	if log := audit.From(ctx); log != nil && log.RequestID != "" {
		entry.SetRequestID(log.RequestID).SetOperation(log.Operation)
	}
	c := principal.Actor(ctx)
	if c == nil || c.PracticeID != practice {
		return entry
	}
	if session, ok := principal.Session(ctx); ok {
		entry.SetSessionID(session)
	}
	if c.UserID != 0 {
		entry.SetUserID(c.UserID)
	}
	if c.TokenID != uuid.Nil {
		entry.SetTokenID(c.TokenID)
	}
	return entry.SetNillableApplicationID(c.ApplicationID)
}

// AuditCreation appends an entry to the audit log for a record that is created but not stored.
func AuditCreation(ctx context.Context, tx *ent.Client, practice uuid.UUID, resource, id string) error {
	return setActor(ctx, tx.AuditEvent.Create(), practice).SetAt(clock.Now(ctx)).
		SetAction(actionCreate).SetResource(resource).SetRecordID(id).Exec(ctx)
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
		if v, err = m.(interface{ Before() ent.Mutation }).Before().OldField(ctx, "practice_id"); err != nil {
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
			ent.Subjects(found, log.Note, log.NoteUUID, log.Patient)
		}
	})
}
