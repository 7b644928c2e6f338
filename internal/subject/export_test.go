package subject

import (
	"chairside/ent"
	"chairside/internal/civil"
)

// For tests.
var (
	Condition        = condition
	NotAboutPatients = notAboutPatients
	IsLog            = isLog
	FHIRStates       = fhirStates
	FHIRInvoices     = fhirInvoices
	DaysOfEntries    = entries
	NoEntries        = noEntries
	KeptTables       = keptTables
	PatientKeeps     = patientKeeps
	ErasedValues     = erasedValues
	Removes          = removes
	Blanks           = blanks
	Blank            = blank
	RemovalOrder     = removalOrder
	Retentions       = retentions
	OtherCountries   = otherCountries
)

// Until returns the first day on which a record may be erased in a country.
func Until(country string, last, born civil.Date, own *int) civil.Date {
	p := &ent.Practice{Country: country, RecordRetentionYears: own}
	day, _, _ := retentionOf(p).until(p, last, born)
	return day
}
