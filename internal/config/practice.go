package config

import (
	"slices"
	"strings"
	"time"

	"chairside/internal/codec"
	"chairside/schema"
)

// PracticeFlags are the flags of "chairside practice create".
type PracticeFlags struct {
	Database
	Name      string `required:"" help:"Name of the practice."`
	TimeZone  string `required:"" placeholder:"ZONE" help:"IANA time zone, such as Europe/London."`
	Country   string `required:"" placeholder:"CODE" help:"ISO 3166 country code, such as GB. The default for telephone numbers."`
	Email     string `required:"" help:"E-mail address of the first user, an administrator who is also a practitioner."`
	FirstName string `default:"Practice" placeholder:"NAME" help:"First name of the first user. Default: ${default}"`
	LastName  string `default:"Administrator" placeholder:"NAME" help:"Last name of the first user. Default: ${default}"`
}

// Read checks the flags, trims spaces and upper-cases the country. The error is
// Mistakes.
func (f PracticeFlags) Read() (PracticeFlags, error) {
	var m Mistakes
	f.Database.check(&m)
	readName(&m, "name", &f.Name)
	readName(&m, "first-name", &f.FirstName)
	readName(&m, "last-name", &f.LastName)
	readEmail(&m, &f.Email)
	if f.Country = strings.ToUpper(strings.TrimSpace(f.Country)); !schema.HasPhones(f.Country) {
		m.add("country", "must be an ISO 3166 country code, such as GB or IE")
	}
	if _, err := time.LoadLocation(f.TimeZone); err != nil || f.TimeZone == "" || f.TimeZone == "Local" {
		m.add("time-zone", "must be an IANA time zone, such as Europe/London")
	}
	return f, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f PracticeFlags) Validate() error {
	_, err := f.Read()
	return err
}

// DeletePracticeFlags are the flags of "chairside practice delete".
type DeletePracticeFlags struct {
	Database
	Practice      string `arg:"" help:"Practice: its id or its short name."`
	GraceDays     int    `placeholder:"N" default:"30" help:"Days until the practice closes, before it is deleted: 0 to 365. Default: ${default}"`
	KeptElsewhere string `name:"records-kept-elsewhere" placeholder:"TEXT" help:"Where patients' records that the law still requires are kept, such as an export in an archive. The database keeps this text."`
}

// Read checks the flags and trims spaces. The error is Mistakes.
func (f DeletePracticeFlags) Read() (DeletePracticeFlags, error) {
	var m Mistakes
	f.Database.check(&m)
	if f.GraceDays < 0 || f.GraceDays > 365 {
		m.add("grace-days", "must be 0 to 365")
	}
	f.KeptElsewhere = strings.TrimSpace(f.KeptElsewhere)
	if len(f.KeptElsewhere) > 1000 || strings.ContainsRune(f.KeptElsewhere, 0) {
		m.add("records-kept-elsewhere", "must have at most 1000 bytes")
	}
	return f, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f DeletePracticeFlags) Validate() error {
	_, err := f.Read()
	return err
}

// UserFlags are the flags of "chairside user create".
type UserFlags struct {
	Database
	Practice  string `required:"" placeholder:"ID" help:"Practice: its id or its short name."`
	Email     string `required:"" help:"E-mail address for signing in."`
	FirstName string `required:"" help:"First name."`
	LastName  string `required:"" help:"Last name."`
	Role      string `required:"" words:"roles" help:"Role: ${roles}."`
}

// Roles lists the values of --role.
func Roles() string { return strings.Join(schema.Role("").Values(), ", ") }

// Read checks the flags and trims spaces. The error is Mistakes.
func (f UserFlags) Read() (UserFlags, error) {
	var m Mistakes
	f.Database.check(&m)
	readName(&m, "practice", &f.Practice)
	readName(&m, "first-name", &f.FirstName)
	readName(&m, "last-name", &f.LastName)
	readEmail(&m, &f.Email)
	if !slices.Contains(schema.Role("").Values(), f.Role) {
		m.add("role", "must be one of: %s", Roles())
	}
	return f, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f UserFlags) Validate() error {
	_, err := f.Read()
	return err
}

// maxName is the longest name, in bytes.
const maxName = 255

func readName(m *Mistakes, flag string, value *string) {
	*value = strings.TrimSpace(*value)
	if *value == "" || len(*value) > maxName || strings.ContainsRune(*value, 0) {
		m.add(flag, "must have 1 to %d bytes and not be blank", maxName)
	}
}

func readEmail(m *Mistakes, value *string) {
	*value = schema.NormalizeEmail(*value)
	if !codec.ValidEmail(*value) {
		m.add("email", "must be an e-mail address, such as ann@example.com")
	}
}
