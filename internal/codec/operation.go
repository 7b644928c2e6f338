package codec

import (
	"time"

	"github.com/google/uuid"

	"chairside/internal/seal"
)

// Operation is what the server must know about an operation before it calls it. The table
// ogent.Operations is generated.
type Operation struct {
	ID          string // as in the OpenAPI document
	Scope       string // scope that a token needs
	Params      []Param
	Body        *Body // nil without a request body
	PatientData bool  // reads or changes patient data; tests check that it is audited

	Key   string // wrapper of the records in the response of a read
	Links []Link // records that expand= may add to each of them

	// Watches are the resources of the change feed on which the response of a list depends.
	// Without any, it also depends on something that the feed does not have.
	Watches    []string
	CreateOnly string // member of the record that only this response has; null when it is read
}

// Link is a record that another one points at.
type Link struct {
	Name   string // the value of expand= and the member that holds the record
	Column string // member with its id
	Plural string // resource of the record
	Scope  string // scope that a token needs to read it
}

// Member is a member of a resource's documents.
type Member struct {
	Name   string
	Kind   Kind
	Sealed bool // of a sealed column
	// Own tells that the member changes only with the record, its parts, and the resources in DependsOn.
	// Others come from linked records, or show use instead of content.
	Own bool
	// DependsOn names resources. A change to one of them can change this member in any record.
	DependsOn []string
}

// The parameters that change the shape of the records in a response.
const (
	FieldsParam = "fields" // only these members
	ExpandParam = "expand" // add the linked records
)

// TimeLayout is the format of times in responses: milliseconds and a numeric offset, never Z
// (behaviour.md section 2).
const TimeLayout = "2006-01-02T15:04:05.000-07:00"

// View converts stored values to the caller's.
type View struct {
	Zone      *time.Location // of the practice
	AvatarURL string         // URL of AvatarPath
	Practice  uuid.UUID      // of the caller
	Keys      *seal.Keys     // of sealed columns
}

// Time returns t in the practice's time zone.
func (v View) Time(t time.Time) time.Time { return t.In(v.Zone) }

// AvatarPath is the path of the neutral avatar, which needs no token.
const AvatarPath = "/static/avatar.svg"
