package api

import (
	"context"

	"chairside/ent/predicate"
	"chairside/internal/apierror"
	"chairside/internal/audit/trail"
	"chairside/internal/civil"
	"chairside/internal/principal"
	"chairside/ogent"
)

// ListAuditEvents lists the audit log of the practice. Callers limited to a site cannot read it:
// it has the records of all sites.
func (h *Handler) ListAuditEvents(ctx context.Context, p ogent.ListAuditEventsParams) (*ogent.AuditEventList, error) {
	c := principal.Must(ctx)
	if c.SiteID != nil {
		return nil, apierror.SiteLimited()
	}
	var extra []predicate.AuditEvent
	if id, ok := p.PatientID.Get(); ok {
		extra = append(extra, trail.AboutPatient(c.PracticeID, id))
	}
	if on, ok := p.On.Get(); ok {
		extra = append(extra, trail.OnDay(civil.Of(on), c.Zone))
	}
	rows, meta, err := h.ReadAuditEvents(ctx, p, extra...)
	if err != nil {
		return nil, err
	}
	return &ogent.AuditEventList{AuditEvents: rows, Meta: meta}, nil
}

// GetAuditEvent returns an event of the audit log.
func (h *Handler) GetAuditEvent(ctx context.Context, p ogent.GetAuditEventParams) (*ogent.AuditEventResponse, error) {
	if principal.Must(ctx).SiteID != nil {
		return nil, apierror.SiteLimited()
	}
	return h.ReadAuditEvent(ctx, p.ID)
}
