package migrate

import (
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
)

// clinic has practices, patients of a practice, and letters of a patient.
func clinic() (practices, patients, letters *schema.Table) {
	table := func(name string, others ...*schema.Column) *schema.Table {
		id := &schema.Column{Name: "id", Type: field.TypeInt64}
		return &schema.Table{Name: name, Columns: append([]*schema.Column{id}, others...), PrimaryKey: []*schema.Column{id}}
	}
	key := func(from *schema.Table, column int, to *schema.Table) {
		from.ForeignKeys = append(from.ForeignKeys, &schema.ForeignKey{
			Symbol: from.Name + "_" + to.Name, Columns: from.Columns[column : column+1],
			RefTable: to, RefColumns: to.Columns[:1], OnDelete: schema.SetNull,
		})
	}
	practice := func() *schema.Column { return &schema.Column{Name: "practice_id", Type: field.TypeInt64} }
	practices = table("practices", &schema.Column{Name: "name", Type: field.TypeString})
	patients = table("patients", practice(), &schema.Column{Name: "born", Type: field.TypeOther, SchemaType: map[string]string{dialect.Postgres: "date"}})
	letters = table("letters", practice(), &schema.Column{Name: "patient_id", Type: field.TypeInt64, Nullable: true}, &schema.Column{Name: "second_patient_id", Type: field.TypeInt64, Nullable: true})
	key(patients, 1, practices)
	key(letters, 1, practices)
	key(letters, 2, patients)
	key(letters, 3, patients)
	return practices, patients, letters
}

func names(columns []*schema.Column) string {
	text := ""
	for _, c := range columns {
		text += c.Name + " "
	}
	return text
}

func TestDesiredConfinesKeysToThePractice(t *testing.T) {
	practices, patients, letters := clinic()
	tables, err := desired([]*schema.Table{practices, patients, letters}, dialect.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key           *schema.ForeignKey
		columns, refs string
		onDelete      schema.ReferenceOption
	}{
		{tables[1].ForeignKeys[0], "practice_id ", "id ", schema.SetNull},
		{tables[2].ForeignKeys[0], "practice_id ", "id ", schema.SetNull},
		{tables[2].ForeignKeys[1], "practice_id patient_id ", "practice_id id ", schema.NoAction},
		{tables[2].ForeignKeys[2], "practice_id second_patient_id ", "practice_id id ", schema.NoAction},
	} {
		if got := names(test.key.Columns); got != test.columns {
			t.Errorf("%s: from %s, want %s", test.key.Symbol, got, test.columns)
		}
		if got := names(test.key.RefColumns); got != test.refs {
			t.Errorf("%s: to %s, want %s", test.key.Symbol, got, test.refs)
		}
		if test.key.OnDelete != test.onDelete {
			t.Errorf("%s: on delete %s, want %s", test.key.Symbol, test.key.OnDelete, test.onDelete)
		}
	}
	if got := tables[1].Indexes; len(got) != 1 || !got[0].Unique || names(got[0].Columns) != "practice_id id " || got[0].Name != "patients_practice_id_id" {
		t.Errorf("the index for the keys: %+v", got)
	}
	if len(letters.ForeignKeys[1].Columns) != 1 || len(patients.Indexes) != 0 {
		t.Error("the argument was changed")
	}
}

func TestDesiredKeepsSimpleKeysWhereThePracticeMayBeNull(t *testing.T) {
	practices, patients, letters := clinic()
	letters.Columns[1].Nullable = true
	tables, err := desired([]*schema.Table{practices, patients, letters}, dialect.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(tables[2].ForeignKeys[1].Columns); got != "patient_id " {
		t.Errorf("the key covers %s", got)
	}
}

func TestDesiredCollations(t *testing.T) {
	for dialectName, want := range map[string]string{dialect.Postgres: "C", dialect.SQLite: ""} {
		practices, patients, letters := clinic()
		tables, err := desired([]*schema.Table{practices, patients, letters}, dialectName)
		if err != nil {
			t.Fatal(err)
		}
		if got := tables[0].Columns[1].Collation; got != want {
			t.Errorf("%s: text is collated %q, want %q", dialectName, got, want)
		}
		for _, c := range tables[1].Columns {
			if c.Collation != "" {
				t.Errorf("%s: %s is collated %q", dialectName, c.Name, c.Collation)
			}
		}
	}
}

func TestDesiredIndexesThatIncludeColumns(t *testing.T) {
	for _, test := range []struct {
		dialect string
		unique  bool
		want    string
	}{
		{dialect.Postgres, false, "practice_id patient_id "},
		{dialect.SQLite, false, "practice_id patient_id second_patient_id "},
		{dialect.SQLite, true, "practice_id patient_id "},
	} {
		practices, patients, letters := clinic()
		letters.Indexes = []*schema.Index{{
			Name: "letters_of_a_patient", Unique: test.unique, Columns: letters.Columns[1:3],
			Annotation: &entsql.IndexAnnotation{IncludeColumns: []string{"second_patient_id"}},
		}}
		tables, err := desired([]*schema.Table{practices, patients, letters}, test.dialect)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(tables[2].Indexes[0].Columns); got != test.want {
			t.Errorf("%s, unique %t: the index is on %s, want %s", test.dialect, test.unique, got, test.want)
		}
	}
}
