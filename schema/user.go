package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"chairside/internal/apispec"
	"chairside/internal/codec"
)

// User is a person who works in the practice.
type User struct{ ent.Schema }

// Mixin of User.
func (User) Mixin() []ent.Mixin { return []ent.Mixin{tenant{site: ownSiteOrWorks}, timestamps{}} }

// Fields of User.
func (User) Fields() []ent.Field {
	return []ent.Field{
		intID(),
		field.Enum("title").GoType(Title("")).Optional().Nillable().Comment("How the user is addressed."),
		text("first_name", "First name."),
		text("last_name", "Last name."),
		folded("last_name"),
		field.String("email").Unique().Comment("E-mail address, unique in the installation; the user signs in with it.").Annotations(apispec.Field{Kind: codec.Email}),
		optionalText("mobile_phone", "Mobile telephone number."),
		field.Enum("role").GoType(Role("")).Comment("What the user does in the practice."),
		optionalUUIDRef("site_id", "The site the user works at."),
		boolTrue("active", "Whether the user may use the system."),
		optionalTimestamp("last_login", "When the user last signed in."),
		field.String("password_hash").Default("").Sensitive().Comment("argon2id hash of the password, empty where none was set.").Annotations(apispec.Hidden()),
		field.String("totp_secret").Default("").Sensitive().Comment("Shared secret of the second factor (RFC 6238), base32; empty without one.").Annotations(apispec.Hidden()),
		field.Int64("totp_step").Default(0).Comment("The last time step of which a code was used: none works twice.").Annotations(apispec.Field{Hidden: true, Derived: true}),
		field.JSON("recovery_codes", []string{}).Optional().Sensitive().Comment("SHA-256 of the codes that stand in for the second factor, once each.").Annotations(apispec.Hidden()),
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
func (User) Hooks() []ent.Hook { return []ent.Hook{fold("last_name")} }

// Annotations of User.
func (User) Annotations() []schema.Annotation {
	return []schema.Annotation{apispec.Resource{
		Key: "user", Plural: "users", Scope: "user", Doc: "People who work in the practice.", Verbs: readable,
		Sorts: []apispec.Sort{{Key: "last_name", Column: "last_name_folded"}},
		Computed: []apispec.Computed{
			{Name: "permission_level", Kind: codec.Integer, Columns: []string{"role"}, Func: "PermissionLevelOf", Doc: "1 reception, 2 practitioner, 3 manager, 4 administrator."},
			{Name: "practice_id", Kind: codec.UUID, Columns: []string{"practice_id"}, Doc: "The practice of the user."},
			{Name: "image_url", Kind: codec.Avatar, Doc: "Address of a picture."},
		},
		Operations: []apispec.Operation{
			{ID: "getCurrentUser", Path: "/user", Doc: "Get the user the token acts for."},
			{ID: "getUsersCurrent", Path: "/users/current", Doc: "Get the user the token acts for, as /user does."},
		},
	}}
}
