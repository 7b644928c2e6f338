package api_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointment"
	"chairside/ent/auditevent"
	"chairside/ent/patient"
	"chairside/ent/practitioner"
	"chairside/internal/apierror"
	"chairside/internal/clock"
	"chairside/internal/entx"
	"chairside/internal/list"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	"chairside/internal/write"
	"chairside/ogent"
	"chairside/schema"
)

// visit returns the create of an appointment on the Monday.
func visit(ctx context.Context, tx *ent.Client, practitioner int64, hour time.Duration) *ent.AppointmentCreate {
	start := instant(monday).Add(hour * time.Hour)
	return tx.Appointment.Create().SetPractitionerID(practitioner).SetReason("Exam").SetStartTime(start).SetFinishTime(start.Add(30 * time.Minute)).
		SetUserID(principal.Must(ctx).UserID)
}

// somebody returns a context of a user of the main practice with a token.
func somebody(t *testing.T, e *harness.Env) context.Context {
	t.Helper()
	ctx := e.As(t, "demo")
	c := *principal.Must(ctx)
	var err error
	if c.UserID, err = e.DB.Ent.User.Query().FirstID(ctx); err != nil {
		t.Fatal(err)
	}
	c.TokenID = uuid.New()
	return clock.With(principal.With(ctx, &c), e.Clock.Now())
}

// insert inserts an appointment as a request does.
func insert(ctx context.Context, c *ent.AppointmentCreate, conditions ...entx.Condition) (*ogent.Appointment, error) {
	return write.Insert(ctx, ogent.Reads{}.View(ctx), c, ogent.AppointmentForm, conditions...)
}

// records returns the audit log entries of an appointment, without the members that always
// differ.
func records(t *testing.T, e *harness.Env, ctx context.Context, id int64) []*ent.AuditEvent {
	t.Helper()
	rows, err := e.DB.Ent.AuditEvent.Query().Where(auditevent.Resource(ent.TypeAppointment), auditevent.RecordID(strconv.FormatInt(id, 10))).
		Select(auditevent.FieldAt, auditevent.FieldUserID, auditevent.FieldTokenID, auditevent.FieldResource, auditevent.FieldAction, auditevent.FieldFields, auditevent.FieldPracticeID).All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestInsertedRowHasTheSameAuditEntryAsASavedOne: one statement writes both, as two would.
func TestInsertedRowHasTheSameAuditEntryAsASavedOne(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, dentist := somebody(t, e), hire(t, e)
		var saved *ent.Appointment
		var added *ogent.Appointment
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			if saved, err = visit(ctx, tx, dentist, 9).Save(ctx); err != nil {
				return err
			}
			added, err = insert(ctx, visit(ctx, tx, dentist, 10))
			return err
		})
		want, got := records(t, e, ctx, saved.ID), records(t, e, ctx, added.ID)
		if len(want) != 1 || len(got) != 1 {
			t.Fatalf("%d and %d entries", len(want), len(got))
		}
		for _, r := range [][]*ent.AuditEvent{want, got} {
			r[0].ID = 0
		}
		if want[0].String() != got[0].String() || !reflect.DeepEqual(want[0].Fields, got[0].Fields) {
			t.Errorf("saved: %v\nadded: %v", want[0], got[0])
		}
		a, err := e.DB.Ent.Appointment.Get(ctx, added.ID)
		if err != nil {
			t.Fatal(err)
		}
		if a.PracticeID != saved.PracticeID || a.Duration != 30 || a.PendingAt == nil || !a.CreatedAt.Equal(saved.CreatedAt) || *a.UserID != *saved.UserID {
			t.Errorf("saved %v, added %v", saved, a)
		}
	})
}

// TestRowIsInsertedOnlyIfItsConditionsHold: conditions see only the rows that the caller may
// see, and a row that is not inserted has no audit entry.
func TestRowIsInsertedOnlyIfItsConditionsHold(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, there, dentist := somebody(t, e), e.As(t, "second"), hire(t, e)
		ours, err := e.DB.Ent.Patient.Query().FirstID(ctx)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := e.DB.Ent.Patient.Query().FirstID(there)
		if err != nil {
			t.Fatal(err)
		}
		some := func(id int64) func(*ent.Client) entx.Condition {
			return func(tx *ent.Client) entx.Condition { return entx.Exists(tx.Patient.Query().Where(patient.ID(id))) }
		}
		none := func(id int64) func(*ent.Client) entx.Condition {
			return func(tx *ent.Client) entx.Condition { return entx.NotExists(tx.Patient.Query().Where(patient.ID(id))) }
		}
		for name, test := range map[string]struct {
			conditions []func(*ent.Client) entx.Condition
			added      bool
		}{
			"no condition":                              {nil, true},
			"our patient exists":                        {[]func(*ent.Client) entx.Condition{some(ours)}, true},
			"our patient does not exist":                {[]func(*ent.Client) entx.Condition{none(ours)}, false},
			"another practice's patient exists":         {[]func(*ent.Client) entx.Condition{some(theirs)}, false},
			"another practice's patient does not exist": {[]func(*ent.Client) entx.Condition{none(theirs)}, true},
			"the first of two conditions fails":         {[]func(*ent.Client) entx.Condition{none(ours), none(theirs)}, false},
			"the second of two conditions fails":        {[]func(*ent.Client) entx.Condition{some(ours), some(theirs)}, false},
			"both conditions hold":                      {[]func(*ent.Client) entx.Condition{none(-1), none(theirs)}, true},
		} {
			appointments, recorded := systemRows(t, e, "SELECT count(*) FROM appointments"), systemRows(t, e, "SELECT count(*) FROM audit_events")
			var added *ogent.Appointment
			e.Tx(t, ctx, func(tx *ent.Client) (err error) {
				var conditions []entx.Condition
				for _, c := range test.conditions {
					conditions = append(conditions, c(tx))
				}
				added, err = insert(ctx, visit(ctx, tx, dentist, 9), conditions...)
				if errors.Is(err, entx.ErrConditionFailed) {
					return nil
				}
				return err
			})
			more := 0
			if test.added {
				more = 1
			}
			if (added != nil) != test.added ||
				systemRows(t, e, "SELECT count(*) FROM appointments") != appointments+more || systemRows(t, e, "SELECT count(*) FROM audit_events") != recorded+more {
				t.Errorf("%s: added %v", name, added)
			}
		}
	})
}

// TestInsertedRowIsRolledBack: after an error, neither the row nor its audit entry is left.
func TestInsertedRowIsRolledBack(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, there, dentist := somebody(t, e), e.As(t, "second"), hire(t, e)
		theirs, err := e.DB.Ent.Practitioner.Query().Where(practitioner.Active(true)).FirstID(there)
		if err != nil {
			t.Fatal(err)
		}
		refused := errors.New("refused")
		add := func(c *ent.AppointmentCreate) error {
			_, err := insert(ctx, c)
			return err
		}
		for name, work := range map[string]func(tx *ent.Client) error{
			"a later error": func(tx *ent.Client) error { return errors.Join(add(visit(ctx, tx, dentist, 9)), refused) },
			"a failed CHECK": func(tx *ent.Client) error {
				return add(visit(ctx, tx, dentist, 9).SetFinishTime(instant(monday)))
			},
			"another practice's practitioner": func(tx *ent.Client) error { return add(visit(ctx, tx, theirs, 9)) },
		} {
			recorded := systemRows(t, e, "SELECT count(*) FROM audit_events")
			if err := e.DB.Tx(ctx, work); err == nil || errors.Is(err, entx.ErrConditionFailed) {
				t.Errorf("%s: %v", name, err)
			}
			n, err := e.DB.Ent.Appointment.Query().Where(appointment.PractitionerID(dentist)).Count(ctx)
			if err != nil || n != 0 || systemRows(t, e, "SELECT count(*) FROM audit_events") != recorded {
				t.Errorf("%s: %d appointments are left, %v", name, n, err)
			}
		}
	})
}

// TestUpdatedRowHasTheSameAuditEntryAsASavedOne: one statement writes both, as two would.
func TestUpdatedRowHasTheSameAuditEntryAsASavedOne(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, dentist := somebody(t, e), hire(t, e)
		room := e.DB.Ent.Room.Query().FirstIDX(ctx)
		var saved, other *ent.Appointment
		var changed *ogent.Appointment
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			if saved, err = visit(ctx, tx, dentist, 9).SetNotes("x").Save(ctx); err != nil {
				return err
			}
			other, err = visit(ctx, tx, dentist, 10).SetNotes("x").Save(ctx)
			return err
		})
		change := func(tx *ent.Client, a *ent.Appointment) *ent.AppointmentUpdateOne {
			return tx.Appointment.UpdateOne(a).ClearNotes().SetRoomID(room).SetMetadata(map[string]string{"a": "é"}).
				SetState(schema.Arrived).SetFinishTime(a.StartTime.Add(45 * time.Minute)).ClearUserID().SetUserID(*a.UserID)
		}
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			if saved, err = change(tx, saved).Save(ctx); err != nil {
				return err
			}
			changed, err = list.One(ctx, ogent.Reads{}.View(ctx), change(tx, other), ogent.AppointmentForm)
			return err
		})
		want, got := records(t, e, ctx, saved.ID), records(t, e, ctx, other.ID)
		if len(want) != 2 || len(got) != 2 {
			t.Fatalf("%d and %d entries", len(want), len(got))
		}
		for i := range want {
			want[i].ID, got[i].ID = 0, 0
			if want[i].String() != got[i].String() || !reflect.DeepEqual(want[i].Fields, got[i].Fields) {
				t.Errorf("saved:   %v\nchanged: %v", want[i], got[i])
			}
		}
		a := e.DB.Ent.Appointment.GetX(ctx, other.ID)
		a.ID, a.StartTime, a.FinishTime = saved.ID, saved.StartTime, saved.FinishTime
		if b := e.DB.Ent.Appointment.GetX(ctx, saved.ID); a.String() != b.String() {
			t.Errorf("saved:   %v\nchanged: %v", b, a)
		}
		shown, err := ogent.Reads{Client: e.DB.Ent, Keys: e.DB.Keys}.ReadAppointment(ctx, other.ID)
		if err != nil || !reflect.DeepEqual(&shown.Appointment, changed) {
			t.Errorf("shown %v, %v\nchanged %v", shown, err, changed)
		}
	})
}

func isMissing(err error) bool {
	var f *apierror.Error
	return ent.IsNotFound(err) || errors.As(err, &f) && f.Status == http.StatusNotFound
}

// TestRefusedUpdateLeavesNoTrace: neither a changed row nor an audit entry.
func TestRefusedUpdateLeavesNoTrace(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, there, dentist := somebody(t, e), e.As(t, "second"), hire(t, e)
		var a *ent.Appointment
		e.Tx(t, ctx, func(tx *ent.Client) (err error) {
			a, err = visit(ctx, tx, dentist, 9).Save(ctx)
			return err
		})
		before, recorded := e.DB.Ent.Appointment.GetX(ctx, a.ID).String(), systemRows(t, e, "SELECT count(*) FROM audit_events")
		elsewhere := uuid.New()
		limited := *principal.Must(ctx)
		limited.SiteID = &elsewhere
		for name, test := range map[string]struct {
			ctx    context.Context
			change func(*ent.AppointmentUpdateOne) *ent.AppointmentUpdateOne
			want   func(error) bool
		}{
			"another practice's": {there, func(u *ent.AppointmentUpdateOne) *ent.AppointmentUpdateOne { return u.SetReason("Theirs") }, isMissing},
			"another site's": {
				principal.With(ctx, &limited),
				func(u *ent.AppointmentUpdateOne) *ent.AppointmentUpdateOne { return u.SetReason("Theirs") }, isMissing,
			},
			"times that the table refuses": {
				ctx,
				func(u *ent.AppointmentUpdateOne) *ent.AppointmentUpdateOne {
					return u.SetFinishTime(a.StartTime.Add(-time.Hour))
				},
				func(err error) bool { return err != nil },
			},
			"a column of all rows": {
				ctx,
				func(u *ent.AppointmentUpdateOne) *ent.AppointmentUpdateOne {
					if err := u.Mutation().SetField(appointment.FieldPracticeID, principal.Must(there).PracticeID); err != nil {
						t.Error(err)
					}
					return u
				},
				func(err error) bool { return err != nil || e.DB.Dialect == dialect.SQLite }, // ent leaves it out
			},
		} {
			refused := errors.New("refused")
			var got error
			err := e.DB.Tx(ctx, func(tx *ent.Client) error {
				_, got = list.One(test.ctx, ogent.Reads{}.View(test.ctx), test.change(tx.Appointment.UpdateOne(a)), ogent.AppointmentForm)
				return refused
			})
			if !errors.Is(err, refused) || !test.want(got) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if after := e.DB.Ent.Appointment.GetX(ctx, a.ID).String(); after != before || systemRows(t, e, "SELECT count(*) FROM audit_events") != recorded {
				t.Errorf("%s: %s\nwas %s", name, after, before)
			}
		}
	})
}

// TestHookMayNotAskAfterItsRow: the statement that writes the row is still to be read. On
// SQLite the row is read anew after the hooks.
func TestHookMayNotAskAfterItsRow(t *testing.T) {
	e := harness.Start(t, harness.Postgres(t))
	ctx, dentist := somebody(t, e), hire(t, e)
	e.DB.Ent.Appointment.Use(func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			v, err := next.Mutate(ctx, m)
			if err == nil {
				_, err = m.(*ent.AppointmentMutation).Client().Patient.Query().Count(ctx)
			}
			return v, err
		})
	})
	err := e.DB.Tx(ctx, func(tx *ent.Client) error {
		_, err := insert(ctx, visit(ctx, tx, dentist, 9))
		return err
	})
	if err == nil {
		t.Error("a hook has asked before the row was read")
	}
	e.Post(t, "/v1/appointments", e.Token(t, ""), booking(dentist, "09:00", "09:30")).Status(t, http.StatusInternalServerError)
	if n := e.DB.Ent.Appointment.Query().Where(appointment.PractitionerID(dentist)).CountX(ctx); n > 1 {
		t.Errorf("%d appointments", n)
	}
}

// TestBookingSucceedsIfTheConflictIsCancelled: the conflicting appointment may be gone when
// the booking looks for it again.
func TestBookingSucceedsIfTheConflictIsCancelled(t *testing.T) {
	e := harness.Start(t, harness.Postgres(t)) // SQLite has one writer at a time
	c, dentist := e.Client(t, e.Token(t, "")), hire(t, e)
	book(t, c, dentist, "09:00", "09:30")
	tried := false
	e.DB.Ent.Appointment.Use(func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			defer func() { tried = true }()
			return next.Mutate(ctx, m)
		})
	})
	e.DB.Ent.Appointment.Intercept(ent.TraverseFunc(func(ctx context.Context, _ ent.Query) error {
		if !tried {
			return nil
		}
		_, err := e.DB.SQL.ExecContext(ctx, "UPDATE appointments SET state = 'Cancelled', cancelled_at = now(), did_not_attend_at = NULL WHERE practitioner_id = $1 AND state <> 'Cancelled'", dentist)
		tried = false
		return err
	}))
	book(t, c, dentist, "09:15", "09:45")
}
