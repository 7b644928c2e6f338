package report

import (
	"github.com/google/uuid"

	"chairside/internal/civil"
)

// Filter narrows a report. Days are the practice's own; both ends count.
type Filter struct {
	From, To       civil.Date
	SiteID         *uuid.UUID // nil for all sites
	PractitionerID *int64     // nil for all practitioners
}
