package seed

import (
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/appointmentcancellationreason"
	"chairside/schema"
)

// cancellations chooses the reasons for cancelled appointments.
type cancellations struct {
	random  random
	reasons []uuid.UUID // that can be given
}

// writeCancellationReasons creates the reasons of a new practice, and an archived one.
func (g *generator) writeCancellationReasons() {
	c := &g.cancellations
	add := func(r schema.CancellationReason, archived bool) uuid.UUID {
		row := ent.AppointmentCancellationReason{
			ID: g.uuid(appointmentcancellationreason.Table), PracticeID: g.practice, CreatedAt: g.opened, UpdatedAt: g.opened,
			Reason: r.Name, ReasonType: r.Type, Archived: archived,
		}
		g.out.cancellationReasons = append(g.out.cancellationReasons, row)
		return row.ID
	}
	for _, r := range schema.CancellationReasons {
		c.reasons = append(c.reasons, add(r, false))
	}
	add(schema.CancellationReason{Name: "Moved by the old system", Type: schema.CancelledByOther}, true)
}

// reason returns the reason for a cancelled appointment, if it has one.
func (c *cancellations) reason() *uuid.UUID {
	return optional(c.random, 90, pick(c.random, c.reasons))
}
