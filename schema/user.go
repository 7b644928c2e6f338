package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// KnownBrowser is a browser that has signed in as a user.
type KnownBrowser struct {
	Hash   string    `json:"hash"`             // SHA-256 of the user's id and the browser's cookie, base64
	Name   string    `json:"name"`             // family and system: "Firefox on Windows"
	First  time.Time `json:"first"`            // first sign-in
	Last   time.Time `json:"last"`             // last sign-in
	Unseen bool      `json:"unseen,omitempty"` // the user has not been shown its first sign-in yet
}

// User is a person who works at the practice.
type User struct{ ent.Schema }

// Mixin of User.
func (User) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSiteOrWorks}, timestamps{}} }

// Fields of User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Enum("title").GoType(Title("")).Optional().Nillable().Comment("Title."),
		text("first_name", "First name."),
		text("last_name", "Last name."),
		folded("last_name"),
		field.String("email").Unique().Comment("E-mail address for signing in; unique in the installation.").Annotations(apispec.Field{Kind: codec.Email}),
		optionalText("mobile_phone", "Mobile telephone number."),
		field.Enum("role").GoType(Role("")).Comment("Role in the practice."),
		optionalUUIDRef("site_id", "The user's site."),
		boolTrue("active", "Whether the user can sign in and use tokens."),
		optionalTimestamp("last_login", "When the user last signed in.", apispec.Field{Bookkeeping: true}),
		field.String("password_hash").Default("").Sensitive().Comment("argon2id hash of the password; empty if none is set.").Annotations(apispec.Hidden()),
		optionalSealed("totp_secret", "Authenticator secret (RFC 6238), base32; null without two-factor authentication."),
		field.Int64("totp_step").Default(0).Comment("Time step of the last used code; no code works twice.").Annotations(apispec.Field{Hidden: true, Derived: true, Bookkeeping: true}),
		field.JSON("known_browsers", []KnownBrowser{}).Optional().Sensitive().Comment("Browsers that have signed in as the user, the last used first.").Annotations(apispec.Field{Hidden: true, Derived: true, Bookkeeping: true}),
		field.JSON("recovery_codes", []string{}).Optional().Sensitive().Comment("SHA-256 of the unused recovery codes.").Annotations(apispec.Hidden()),
	}
}

// Edges of User.
func (User) Edges() []ent.Edge {
	return []ent.Edge{
		optionalLink("site", Site.Type, "site_id"),
		edge.To("practitioner", Practitioner.Type).Unique().Annotations(keep),
	}
}

// Indexes of User.
func (User) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("practice_id", "last_name_folded", "id"), // sort_by=last_name
	}
}

// Hooks of User.
func (User) Hooks() []ent.Hook { return []ent.Hook{onChange(deriveFolded("last_name"))} }

// viewUser is what analysts see.
var viewUser = apispec.View{
	Shown: []string{"id", "title", "first_name", "last_name", "role", "site_id", "active", "created_at", "updated_at"},
	Withheld: []string{
		"last_name_folded", "email", "mobile_phone", "last_login", "password_hash", "totp_secret", "totp_step",
		"known_browsers", "recovery_codes",
	},
}

// Annotations of User.
func (User) Annotations() []schema.Annotation {
	return []schema.Annotation{viewUser, apispec.Resource{
		Key: "user", Plural: "users", Scope: "user", Doc: "People who work at the practice.", Verbs: readable,
		Sorts: []apispec.Sort{{Key: "last_name", Column: "last_name_folded"}},
		Computed: []apispec.Computed{
			{Name: "permission_level", Kind: codec.Integer, Columns: []string{"role"}, Func: "PermissionLevelOf", Doc: "1 reception, 2 practitioner, 3 manager, 4 administrator."},
			{Name: "practice_id", Kind: codec.UUID, Columns: []string{"practice_id"}, Doc: "The user's practice."},
			{Name: "image_url", Kind: codec.Avatar, Doc: "URL of the picture."},
		},
		Operations: []apispec.Operation{
			{ID: "getCurrentUser", Path: "/user", Doc: "Get the token's user."},
			{ID: "getUsersCurrent", Path: "/users/current", Doc: "Get the token's user, like /user."},
		},
	}}
}
