package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// Hours are the opening times of one weekday, "HH:MM" in the practice's time zone.
type Hours struct {
	Open  string `json:"open"`
	Close string `json:"close"`
}

// OpeningHours maps an English weekday ("Monday") to its hours; closed days are absent.
type OpeningHours map[string]Hours

// Practice is the tenant: it owns every other row.
type Practice struct{ ent.Schema }

// Mixin of Practice.
func (Practice) Mixin() []ent.Mixin { return []ent.Mixin{timestamps{unlisted: true}} }

// Fields of Practice.
func (Practice) Fields() []ent.Field {
	return append([]ent.Field{
		uuidID(),
		text("name", "Name of the practice."),
		field.String("slug").Unique().Comment("Short name, unique in the installation."),
		text("country", "ISO 3166 country code. Default for phone numbers.", apispec.Field{Kind: codec.Country}),
		optionalText("phone_number", "Telephone number."),
		optionalText("email_address", "E-mail address."),
		optionalText("website", "URL of the website."),
		optionalText("logo_url", "URL of the logo."),
		text("time_zone", "IANA time zone in which times are shown.", apispec.Field{Example: "Europe/London"}),
		boolFalse("nhs", "Whether the practice does NHS work."),
		field.Int("minimum_appointment_duration").Default(15).Comment("Shortest appointment in minutes. Default for the duration of availability.").Annotations(between(1, 1440)),
		openingHours(),
		optionalCount("record_retention_years", "Years after the last entry for which patients' records are kept; null for the default of the country.", apispec.Field{Hidden: true, Derived: true, Min: bound(1), Max: bound(100)}),
		optionalTimestamp("closes_at", "From when the practice is closed, because it will be deleted; null unless that is scheduled.", apispec.Field{Hidden: true, Derived: true}),
		optionalText("custom_patient_field_label_1", "Label of the patients' custom_field_1."),
		optionalText("custom_patient_field_label_2", "Label of the patients' custom_field_2."),
		field.Int("second_factor_level").Default(0).Comment("Permission level from which users need two-factor authentication; 0 for no one.").Annotations(hidden(between(0, 4))),
		field.Int("idle_lock_minutes").Default(30).Comment("Minutes without a request after which a browser session locks; 0 for never.").Annotations(hidden(between(0, 120))),
		optionalSealed("search_key", "Key of the hashes by which sealed values are found (Hash); made with the first one."),
	}, address()...)
}

func openingHours() ent.Field {
	return field.JSON("opening_hours", OpeningHours{}).Default(OpeningHours{}).
		Comment("Local opening times per weekday; closed days are absent.").
		Annotations(apispec.Field{Kind: codec.Object, Example: `{"Monday": {"open": "09:00", "close": "17:30"}}`})
}

// address is the address of a practice or a site.
func address() []ent.Field {
	return []ent.Field{
		optionalText("address_line_1", "First line of the address."),
		optionalText("address_line_2", "Second line of the address."),
		optionalText("town", "Town or city."),
		optionalText("county", "County."),
		optionalText("postcode", "Postcode.", apispec.Field{Example: "SW1A 1AA"}),
	}
}

// Interceptors confine queries: the practice is its own tenant.
func (Practice) Interceptors() []ent.Interceptor { return []ent.Interceptor{confine("id", site{})} }

// Hooks confine changes in the same way. Only the system can create a practice, because
// its id, unlike a practice_id, cannot be set.
func (Practice) Hooks() []ent.Hook { return []ent.Hook{confineSave("id", site{})} }

// Annotations of Practice.
func (Practice) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Unconfined{Reason: "its id is the practice"}, apispec.Resource{
		Key: "practice", Plural: "practices", Scope: "practice", Doc: "The practice of the token.", NotInFeed: "it is one record: read /practice",
		Operations: []apispec.Operation{{ID: "getPractice", Path: "/practice", Doc: "Get the practice of the token's user."}},
	}}
}
