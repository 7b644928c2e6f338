package codec

import "time"

// Operation is what the server must know about an operation before it calls it. The table
// ogent.Operations is generated.
type Operation struct {
	ID          string // as in the OpenAPI document
	Scope       string // scope that a token needs
	Params      []Param
	Body        *Body // nil without a request body
	PatientData bool  // reads or changes patient data; tests check that it is audited
}

// TimeLayout is the format of times in responses: milliseconds and a numeric offset, never Z
// (behaviour.md section 2).
const TimeLayout = "2006-01-02T15:04:05.000-07:00"

// View converts stored values to the caller's.
type View struct {
	Zone      *time.Location // of the practice
	AvatarURL string         // URL of AvatarPath
}

// Time returns t in the practice's time zone.
func (v View) Time(t time.Time) time.Time { return t.In(v.Zone) }

// AvatarPath is the path of the neutral avatar, which needs no token.
const AvatarPath = "/static/avatar.svg"
