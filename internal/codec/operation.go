package codec

import "time"

// Operation is what the server must know of an operation before it calls it.
// The table of all operations is generated.
type Operation struct {
	ID          string // as in the OpenAPI document
	Scope       string // the scope a token needs
	Params      []Param
	Body        *Body // nil where the operation takes none
	PatientData bool  // what it answers or changes is a patient's: tests hold that who reads it is noted
}

// TimeLayout is how times are printed: milliseconds and a numeric offset,
// never Z (behaviour.md section 2).
const TimeLayout = "2006-01-02T15:04:05.000-07:00"

// View is how a caller sees stored values.
type View struct {
	Zone      *time.Location // the practice's
	AvatarURL string         // the address of the neutral picture
}

// Time gives t on the practice's clocks.
func (v View) Time(t time.Time) time.Time { return t.In(v.Zone) }

// AvatarPath answers without a token with a neutral picture that says nothing of anyone.
const AvatarPath = "/static/avatar.svg"
