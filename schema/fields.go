package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"github.com/google/uuid"

	"chairside/internal/apispec"
	"chairside/internal/apispec/limit"
	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/decimal"
	"chairside/internal/seal"
)

// The longest texts, in code points.
const (
	shortText = 255
	longText  = limit.LongText
)

// NewID returns a new row id. Version 7 sorts by time, which keeps indexes dense.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// intID is the id of resources whose ids people see: an integer that is never reused.
func intID() ent.Field {
	return field.Int64("id").Immutable().Comment("Identifier.")
}

// uuidID is the id of all other resources.
func uuidID() ent.Field {
	return field.UUID("id", uuid.UUID{}).Default(NewID).Immutable().Comment("Identifier.")
}

// everyRow counts a practice's rows, for lists that grow over the years.
var everyRow = []apispec.Counter{{Name: "all"}}

// options returns the column's annotation, or an empty one.
func options(o []apispec.Field) apispec.Field {
	if len(o) == 0 {
		return apispec.Field{}
	}
	return o[0]
}

// written marks a column that clients may write; a text has at most shortText characters, or
// the given maximum.
func written(max ...int) apispec.Field {
	f := apispec.Field{Write: true, MaxRunes: shortText}
	if len(max) > 0 {
		f.MaxRunes = max[0]
	}
	return f
}

// kind marks a column that clients may write, in a format that its Go type does not imply.
func kind(k codec.Kind) apispec.Field {
	return apispec.Field{Write: true, Kind: k, MaxRunes: shortText}
}

// example gives a column a value in the example bodies.
func example(f apispec.Field, value string) apispec.Field {
	f.Example = value
	return f
}

// required marks a column that create requires.
func required(f apispec.Field) apispec.Field {
	f.Required = true
	return f
}

// createDefault marks a column for which null means the default on create and is refused on
// update.
func createDefault(f apispec.Field) apispec.Field {
	f.CreateDefault = true
	return f
}

func text(name, doc string, o ...apispec.Field) ent.Field {
	return field.String(name).Comment(doc).Annotations(options(o))
}

func optionalText(name, doc string, o ...apispec.Field) ent.Field {
	return field.String(name).Optional().Nillable().Comment(doc).Annotations(options(o))
}

// folded is the case-folded copy of a column, for sorting.
func folded(of string) ent.Field {
	return field.String(of + "_folded").Default("").Comment("Case-folded " + of + ".").Annotations(apispec.Field{Hidden: true, Derived: true})
}

func boolTrue(name, doc string, o ...apispec.Field) ent.Field {
	return field.Bool(name).Default(true).Comment(doc).Annotations(options(o))
}

func boolFalse(name, doc string, o ...apispec.Field) ent.Field {
	return field.Bool(name).Default(false).Comment(doc).Annotations(options(o))
}

func count(name, doc string, o ...apispec.Field) ent.Field {
	return field.Int(name).Comment(doc).Annotations(options(o))
}

func optionalCount(name, doc string, o ...apispec.Field) ent.Field {
	return field.Int(name).Optional().Nillable().Comment(doc).Annotations(options(o))
}

// amount is money or NHS activity, in hundredths.
func amount(name, doc string, o ...apispec.Field) ent.Field {
	return field.Int64(name).GoType(decimal.Decimal(0)).Default(0).Comment(doc).Annotations(options(o))
}

func optionalAmount(name, doc string, o ...apispec.Field) ent.Field {
	return field.Int64(name).GoType(decimal.Decimal(0)).Optional().Nillable().Comment(doc).Annotations(options(o))
}

var dateColumn = map[string]string{dialect.Postgres: "date", dialect.SQLite: "date"}

func date(name, doc string, o ...apispec.Field) ent.Field {
	return field.Time(name).GoType(civil.Date{}).SchemaType(dateColumn).Comment(doc).Annotations(options(o))
}

func optionalDate(name, doc string, o ...apispec.Field) ent.Field {
	return field.Time(name).GoType(civil.Date{}).SchemaType(dateColumn).Optional().Nillable().Comment(doc).Annotations(options(o))
}

// sealed is a text that is encrypted (package seal). Without options it is hidden.
func sealed(name, doc string, o ...apispec.Field) ent.Field {
	return field.String(name).GoType(seal.Value{}).Sensitive().Comment(doc).Annotations(sealedOptions(o))
}

func optionalSealed(name, doc string, o ...apispec.Field) ent.Field {
	return field.String(name).GoType(seal.Value{}).Optional().Sensitive().Comment(doc).Annotations(sealedOptions(o))
}

func sealedOptions(o []apispec.Field) apispec.Field {
	if len(o) == 0 {
		return apispec.Hidden()
	}
	return options(o)
}

func timestamp(name, doc string, o ...apispec.Field) ent.Field {
	return field.Time(name).Comment(doc).Annotations(options(o))
}

func optionalTimestamp(name, doc string, o ...apispec.Field) ent.Field {
	return field.Time(name).Optional().Nillable().Comment(doc).Annotations(options(o))
}

// intRef references a row with an integer id.
func intRef(name, doc string, o ...apispec.Field) ent.Field {
	return field.Int64(name).Comment(doc).Annotations(options(o))
}

func optionalIntRef(name, doc string, o ...apispec.Field) ent.Field {
	return field.Int64(name).Optional().Nillable().Comment(doc).Annotations(options(o))
}

// uuidRef references a row with a uuid.
func uuidRef(name, doc string, o ...apispec.Field) ent.Field {
	return field.UUID(name, uuid.UUID{}).Comment(doc).Annotations(options(o))
}

func optionalUUIDRef(name, doc string, o ...apispec.Field) ent.Field {
	return field.UUID(name, uuid.UUID{}).Optional().Nillable().Comment(doc).Annotations(options(o))
}

// metadata is the integrator's own key-value data (spec.md, Limits).
func metadata() ent.Field {
	return field.JSON("metadata", map[string]string{}).Default(map[string]string{}).
		Comment("The integrator's own data: at most 3 keys of 40 characters, with values of 500.").
		Annotations(apispec.Field{Write: true, Kind: codec.Metadata})
}

// link is an edge through this entity's column, without an edge back.
func link(name string, t any, column string) ent.Edge {
	return edge.To(name, t).Unique().Required().Field(column).Annotations(keep)
}

func optionalLink(name string, t any, column string) ent.Edge {
	return edge.To(name, t).Unique().Field(column).Annotations(keep)
}

// back is an edge through this entity's column to the owner, whose edge is ref.
func back(name string, t any, ref, column string) ent.Edge {
	return edge.From(name, t).Ref(ref).Unique().Required().Field(column)
}

func optionalBack(name string, t any, ref, column string) ent.Edge {
	return edge.From(name, t).Ref(ref).Unique().Field(column)
}

// many is the owner's side of back.
func many(name string, t any) ent.Edge { return edge.To(name, t).Annotations(keep) }

// keep refuses to delete referenced rows: nothing cascades.
var keep = entsql.OnDelete(entsql.NoAction)

// between limits a number to low through high.
func between(low, high int64) apispec.Field {
	return apispec.Field{Min: bound(low), Max: bound(high)}
}

// hidden is a field's annotation for a column that the API does not show.
func hidden(f apispec.Field) apispec.Field {
	f.Hidden = true
	return f
}

func bound(n int64) *int64 { return &n }
