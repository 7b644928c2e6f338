package floor

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// appointment is a row with its patient's shown columns.
type appointment struct {
	id                                                int64
	start, finish                                     time.Time
	duration, practitioner                            int64
	patient                                           *int64
	reason, state                                     string
	notes, treatment                                  *string
	room, cancellation                                pgtype.UUID
	user                                              *int64
	viaAPI                                            bool
	metadata                                          []byte
	pending, confirmed, arrived, inSurgery, completed *time.Time
	cancelled, didNotAttend                           *time.Time
	created, updated                                  time.Time
	patientFirst, patientLast                         *string
	patientPlan                                       *int64
}

const (
	appointmentColumns = `SELECT a.id, a.start_time, a.finish_time, a.duration, a.practitioner_id, a.patient_id, a.reason, a.state, a.notes,
		a.treatment_description, a.room_id, a.user_id, a.booked_via_api, a.appointment_cancellation_reason_id, a.metadata, a.pending_at, a.confirmed_at, a.arrived_at, a.in_surgery_at,
		a.completed_at, a.cancelled_at, a.did_not_attend_at, a.created_at, a.updated_at, p.first_name, p.last_name, p.payment_plan_id
		FROM appointments a LEFT JOIN patients p ON p.id = a.patient_id`
	oneAppointment     = appointmentColumns + ` WHERE a.practice_id = $1 AND a.id = $2`
	listedAppointments = ` WHERE a.practice_id = $1 AND a.cancelled_at IS NULL AND a.did_not_attend_at IS NULL`
)

func (a *appointment) scan(rows pgx.Row) error {
	return rows.Scan(&a.id, &a.start, &a.finish, &a.duration, &a.practitioner, &a.patient, &a.reason, &a.state, &a.notes, &a.treatment, &a.room, &a.user,
		&a.viaAPI, &a.cancellation, &a.metadata, &a.pending, &a.confirmed, &a.arrived, &a.inSurgery, &a.completed, &a.cancelled, &a.didNotAttend, &a.created, &a.updated,
		&a.patientFirst, &a.patientLast, &a.patientPlan)
}

// encode writes the appointment as Chairside does, member for member.
func (a *appointment) encode(e *encoder) error {
	e.open('{').key("id").int(a.id).key("start_time").time(a.start).key("finish_time").time(a.finish).key("duration").int(a.duration)
	e.key("practitioner_id").int(a.practitioner).key("patient_id").optionalInt(a.patient).key("reason").text(a.reason).key("state").text(a.state)
	e.key("notes").optionalText(a.notes).key("treatment_description").optionalText(a.treatment).key("room_id").uuid(a.room)
	e.key("user_id").optionalInt(a.user).key("booked_via_api").bool(a.viaAPI)
	e.key("appointment_cancellation_reason_id").uuid(a.cancellation).key("metadata")
	if _, err := e.object(a.metadata); err != nil {
		return err
	}
	e.key("pending_at").optionalTime(a.pending).key("confirmed_at").optionalTime(a.confirmed).key("arrived_at").optionalTime(a.arrived)
	e.key("in_surgery_at").optionalTime(a.inSurgery).key("completed_at").optionalTime(a.completed).key("cancelled_at").optionalTime(a.cancelled)
	e.key("did_not_attend_at").optionalTime(a.didNotAttend).key("created_at").time(a.created).key("updated_at").time(a.updated)
	if a.patientFirst == nil {
		e.key("patient_name").null().key("patient_image_url").null().key("payment_plan_id").null()
	} else {
		e.key("patient_name").text(strings.TrimSpace(strings.TrimSpace(*a.patientFirst) + " " + strings.TrimSpace(*a.patientLast)))
		e.key("patient_image_url").avatar().key("payment_plan_id").optionalInt(a.patientPlan)
	}
	e.close('}')
	return nil
}

func (s *Server) getAppointment(r *http.Request, c *caller, e *encoder) (int, error) {
	id, err := pathID(r)
	if err != nil {
		return 0, err
	}
	var a appointment
	switch err := a.scan(s.db.QueryRow(r.Context(), oneAppointment, c.practice, id)); {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, notFound
	case err != nil:
		return 0, err
	}
	e.open('{').key("appointment")
	err = a.encode(e)
	e.close('}')
	return http.StatusOK, err
}

// listAppointments supports the filters practitioner_id and updated_after.
func (s *Server) listAppointments(r *http.Request, c *caller, e *encoder) (int, error) {
	query := r.URL.Query()
	page, err := readPage(query, 25, 100)
	if err != nil {
		return 0, err
	}
	where, args := listedAppointments, []any{c.practice}
	if query.Has("practitioner_id") {
		id, err := strconv.ParseInt(query.Get("practitioner_id"), 10, 64)
		if err != nil {
			return 0, invalidParameter
		}
		args = append(args, id)
		where += " AND a.practitioner_id = $" + strconv.Itoa(len(args))
	}
	if query.Has("updated_after") {
		after, err := time.Parse(time.RFC3339, query.Get("updated_after"))
		if err != nil {
			return 0, invalidParameter
		}
		args = append(args, after)
		where += " AND a.updated_at >= $" + strconv.Itoa(len(args))
	}
	var total int
	if err := s.db.QueryRow(r.Context(), "SELECT count(*) FROM appointments a"+where, args...).Scan(&total); err != nil {
		return 0, err
	}
	n := len(args)
	text := appointmentColumns + where + " ORDER BY a.start_time, a.id LIMIT $" + strconv.Itoa(n+1) + " OFFSET $" + strconv.Itoa(n+2)
	rows, err := s.db.Query(r.Context(), text, append(args, page.size, page.offset())...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	e.open('{').key("appointments").open('[')
	for rows.Next() {
		var a appointment
		if err := a.scan(rows); err != nil {
			return 0, err
		}
		if err := a.encode(e); err != nil {
			return 0, err
		}
	}
	e.close(']')
	page.meta(e, total)
	e.close('}')
	return http.StatusOK, rows.Err()
}

//go:embed book.sql
var bookFunction string

const callBook = `SELECT outcome, id, first_name, last_name, payment_plan_id FROM chairside_bench.book($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// reasons are the standard reasons; the practice's own are not supported.
var reasons = []string{"Exam", "Scale & Polish", "Exam + Scale & Polish", "Continuing Treatment", "Emergency", "Review", "Other"}

const (
	longestBody        = 1 << 20
	longestAppointment = 24 * time.Hour
)

// book books an appointment of a patient.
func (s *Server) book(r *http.Request, c *caller, e *encoder) (int, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, longestBody))
	if err != nil {
		return 0, failure{http.StatusRequestEntityTooLarge, "invalid_request_error", "too_large"}
	}
	var sent struct {
		Appointment struct {
			Start        time.Time `json:"start_time"`
			Finish       time.Time `json:"finish_time"`
			Practitioner int64     `json:"practitioner_id"`
			Patient      int64     `json:"patient_id"`
			Reason       string    `json:"reason"`
		} `json:"appointment"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return 0, failure{http.StatusBadRequest, "invalid_request_error", "malformed_json"}
	}
	in, now := sent.Appointment, time.Now().UTC().Truncate(time.Millisecond)
	if length := in.Finish.Sub(in.Start); length <= 0 || length > longestAppointment || !slices.Contains(reasons, in.Reason) {
		return 0, validationFailed
	}
	a := appointment{
		start: in.Start, finish: in.Finish, duration: int64(in.Finish.Sub(in.Start) / time.Minute), practitioner: in.Practitioner, patient: &in.Patient,
		reason: in.Reason, state: "Pending", user: &c.user, viaAPI: true, metadata: []byte("{}"), pending: &now, created: now, updated: now,
	}
	var (
		outcome string
		id      *int64
	)
	var audited pgtype.UUID
	if s.observer != nil {
		audited = c.token
	}
	err = s.db.QueryRow(r.Context(), callBook, c.practice, c.user, in.Start, in.Finish, in.Practitioner, in.Patient, in.Reason, now, audited).
		Scan(&outcome, &id, &a.patientFirst, &a.patientLast, &a.patientPlan)
	if err != nil {
		return 0, err
	}
	switch outcome {
	case "taken":
		return 0, failure{http.StatusConflict, "conflict_error", "double_booking"}
	case "unknown":
		return 0, validationFailed
	}
	a.id = *id
	e.open('{').key("appointment")
	err = a.encode(e)
	e.close('}')
	return http.StatusCreated, err
}
