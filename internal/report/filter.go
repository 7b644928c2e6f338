package report

import (
	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/seal"
)

// Filter narrows a report. From and To are days in the practice's time zone, both
// included.
type Filter struct {
	From, To       civil.Date // a zero From means no beginning
	SiteID         *uuid.UUID // nil for all sites
	PractitionerID *int64     // nil for all practitioners
	Keys           *seal.Keys // of sealed columns, such as the texts of medical alerts

	Compare bool    // add the totals of the period before
	Sort    string  // key of the column to sort tables by, "-key" for descending; "" for the report's own order
	Behind  *Behind // list the records behind a figure instead of the report; nil for the report
}
