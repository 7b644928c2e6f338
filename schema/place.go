package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
)

// readable are the verbs of a read-only resource.
var readable = []apispec.Verb{apispec.Get, apispec.List}

// Site is a location of the practice.
type Site struct{ ent.Schema }

// Mixin of Site.
func (Site) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: isTheSite}, timestamps{}} }

// Fields of Site.
func (Site) Fields() []ent.Field {
	return append([]ent.Field{
		uuidID(),
		text("name", "Name of the site."),
		optionalText("nickname", "Short name for screens."),
		boolTrue("active", "Whether the site is in use."),
		optionalText("phone_number", "Telephone number."),
		optionalText("email_address", "E-mail address."),
		openingHours(),
	}, address()...)
}

// viewSite is what analysts see.
var viewSite = apispec.View{
	Shown:    []string{"id", "name", "nickname", "active", "town", "created_at", "updated_at"},
	Withheld: []string{"phone_number", "email_address", "opening_hours", "address_line_1", "address_line_2", "county", "postcode"},
}

// Annotations of Site.
func (Site) Annotations() []schema.Annotation {
	return []schema.Annotation{viewSite, apispec.Resource{Key: "site", Plural: "sites", Scope: "practice", Doc: "Sites of the practice.", Verbs: readable}}
}

// Room is a surgery in a site.
type Room struct{ ent.Schema }

// Mixin of Room.
func (Room) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSite}, timestamps{}} }

// Fields of Room.
func (Room) Fields() []ent.Field {
	return []ent.Field{
		uuidID(),
		text("name", "Name of the room."),
		uuidRef("site_id", "The site."),
		boolTrue("active", "Whether the room is in use."),
	}
}

// Edges of Room.
func (Room) Edges() []ent.Edge { return []ent.Edge{link("site", Site.Type, "site_id")} }

// Indexes of Room.
func (Room) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "site_id", "id"), // site_id
	}
}

// viewRoom is what analysts see.
var viewRoom = apispec.View{
	Shown: []string{"id", "name", "site_id", "active", "created_at", "updated_at"},
}

// Annotations of Room.
func (Room) Annotations() []schema.Annotation {
	return []schema.Annotation{viewRoom, apispec.Resource{Key: "room", Plural: "rooms", Scope: "practice", Doc: "Rooms of the sites.", Verbs: readable}}
}
