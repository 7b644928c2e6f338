package seed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/store"
	"chairside/schema"
)

// TestSameSeedGeneratesTheSameRows compares all rows, column by column.
func TestSameSeedGeneratesTheSameRows(t *testing.T) {
	t.Parallel()
	o := demo
	o.Patients = 60
	first, second := hashes(t, seeded(t, "sqlite:"+t.TempDir()+"/seed.db", o)), hashes(t, seeded(t, "sqlite:"+t.TempDir()+"/seed.db", o))
	if !reflect.DeepEqual(first, second) {
		t.Errorf("the same options make other data:\n%v\n%v", first, second)
	}
	one, two, later := o, o, o
	two.RandomSeed = 2
	later.AsOf = o.AsOf.AddDays(1)
	names := func(b *batch) (list []string) {
		for _, p := range b.patients {
			list = append(list, p.FirstName+" "+p.LastName)
		}
		return list
	}
	if slices.Equal(names(generated(t, one)), names(generated(t, two))) {
		t.Error("another seed makes the same patients")
	}
	last := func(b *batch) string { return b.appointments[len(b.appointments)-1].String() }
	if last(generated(t, one)) == last(generated(t, later)) {
		t.Error("another day makes the same appointments")
	}
}

// hashes returns a digest of each table.
func hashes(t *testing.T, db *store.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range new(batch).tables() {
		digest := sha256.New()
		rows, err := db.SQL.QueryContext(t.Context(), "SELECT * FROM "+table.name+" ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		for rows.Next() {
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				v := *v.(*any)
				if text, ok := v.(string); ok && strings.HasPrefix(text, "sealed:") { // equal texts are sealed differently
					owner := max(slices.Index(names, "practice_id"), 0) // the practice itself has its id
					v = opened(t, db.Keys, table.name, names[i], *values[owner].(*any), *values[0].(*any), text)
				}
				fmt.Fprintf(digest, "%v\x00", v)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		all[table.name] = hex.EncodeToString(digest.Sum(nil))
	}
	return all
}

// opened returns the text of a value of an embedded database.
func opened(t *testing.T, keys *seal.Keys, table, column string, practice, row any, stored string) string {
	t.Helper()
	id, err := uuid.Parse(fmt.Sprint(practice))
	if err != nil {
		t.Fatal(err)
	}
	v, err := seal.Parse(stored)
	if err != nil {
		t.Fatal(err)
	}
	text, err := keys.Open(seal.Place{Practice: id, Table: table, Column: column, Row: fmt.Sprint(row)}, v)
	if err != nil {
		t.Fatalf("%s.%s: %v", table, column, err)
	}
	return text
}

// TestBothDatabasesHoldTheSameRows compares the rows with the generated ones. It reads
// them through Ent, which hides how each database stores values.
func TestBothDatabasesHoldTheSameRows(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		o := demo
		o.Patients = 30
		db := seeded(t, url, o)
		ctx := principal.AsSystem(t.Context())
		patients, err := db.Ent.Patient.Query().Order(ent.Asc("id")).Limit(20).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		appointments, err := db.Ent.Appointment.Query().Order(ent.Asc("id")).Limit(200).All(ctx)
		if err != nil {
			t.Fatal(err)
		}
		expected := generated(t, o)
		for i, p := range patients {
			if got, want := p.String(), expected.patients[i].String(); got != want {
				t.Errorf("stored\n%s\nwant\n%s", got, want)
			}
		}
		for i, a := range appointments {
			a.StartTime, a.FinishTime = a.StartTime.UTC(), a.FinishTime.UTC()
			if got, want := a, expected.appointments[i]; !a.StartTime.Equal(want.StartTime) || got.Reason != want.Reason || got.State != want.State || !sameTime(got, &want) {
				t.Errorf("stored\n%v\nwant\n%v", got, &want)
			}
		}
	})
}

// sameTime reports whether the appointments were completed and created at the same times.
func sameTime(a, b *ent.Appointment) bool {
	if a.CompletedAt == nil || b.CompletedAt == nil {
		return a.CompletedAt == b.CompletedAt
	}
	return a.CompletedAt.Equal(*b.CompletedAt) && a.CreatedAt.Equal(b.CreatedAt)
}

func TestRunRefusesInvalidOptionsAndExistingPractices(t *testing.T) {
	t.Parallel()
	db := open(t, "sqlite:"+t.TempDir()+"/seed.db")
	o := demo
	o.Patients = 5
	var silent bytes.Buffer
	o.Progress = &silent
	if err := Run(t.Context(), db, Options{}); !errors.Is(err, ErrOptions) {
		t.Errorf("without a date: %v", err)
	}
	if err := Run(t.Context(), db, Options{AsOf: o.AsOf, Now: o.AsOf.Time()}); !errors.Is(err, ErrOptions) {
		t.Errorf("with a date and a time: %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(canceled, db, o); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if n := number(t, db, "SELECT count(*) FROM practices"); n != 0 {
		t.Errorf("%d practices after a failure", n)
	}
	if err := Run(t.Context(), db, o); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), db, o); !errors.Is(err, ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if silent.Len() > 0 {
		t.Errorf("progress where there is no terminal: %q", silent.String())
	}
}

// TestDerivedColumnsMatchTheHooks saves patients again through Ent: its hooks must not
// change the columns that the loader derived.
func TestDerivedColumnsMatchTheHooks(t *testing.T) {
	t.Parallel()
	o := demo
	o.Patients = 150
	db := seeded(t, "sqlite:"+t.TempDir()+"/seed.db", o)
	practice, err := db.Ent.Practice.Query().First(principal.AsSystem(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	ctx := principal.With(t.Context(), &principal.Principal{PracticeID: practice.ID, Country: practice.Country, Zone: london(t)})
	patients, err := db.Ent.Patient.Query().All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range patients {
		want := before.String()
		if before.FirstNameFolded != schema.Fold(before.FirstName) || before.LastNameFolded != schema.Fold(before.LastName) {
			t.Errorf("folded names of %s", want)
		}
		err := db.Tx(clock.With(ctx, before.UpdatedAt), func(tx *ent.Client) error {
			after, err := tx.Patient.UpdateOneID(before.ID).
				SetFirstName(before.FirstName).SetLastName(before.LastName).SetUpdatedAt(before.UpdatedAt).
				SetNillableHomePhone(before.HomePhone).SetNillableMobilePhone(before.MobilePhone).
				SetNillableWorkPhone(before.WorkPhone).SetNillableEmergencyContactPhone(before.EmergencyContactPhone).
				Save(ctx)
			if err != nil {
				return err
			}
			if got := after.String(); got != want {
				t.Errorf("the hooks change\n%[2]s\nto\n%[1]s", got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFieldsFollowColumnOrder checks what the loader relies on: the fields of Ent's rows
// are in the order of its column lists.
func TestFieldsFollowColumnOrder(t *testing.T) {
	for _, table := range new(batch).tables() {
		row := table.rows.Type().Elem()
		for i, column := range table.columns {
			field := row.Field(firstColumn + i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != column && name != "-" {
				t.Errorf("%s: %s is written into %s", table.name, field.Name, column)
			}
		}
		if next := row.Field(firstColumn + len(table.columns)); next.IsExported() && next.Name != "Edges" {
			t.Errorf("%s: %s is not written", table.name, next.Name)
		}
	}
}

func TestDiaryFindsFreeTimes(t *testing.T) {
	d := diary{busy: make([]slots, 1), booked: make([]int, 1)}
	d.work[1].fill(9*hour, 13*hour)
	if n := d.work[1].minutes(); n != 4*hour {
		t.Errorf("%d minutes of work", n)
	}
	if _, ok := d.taken(0, 0); ok {
		t.Error("taken before anything was booked")
	}
	for _, step := range []struct{ preferred, length, want int }{
		{10 * hour, 30, 10 * hour},
		{10 * hour, 30, 10*hour + 30},
		{12*hour + 45, 30, 9 * hour}, // does not fit before the end of the day
		{9*hour + 15, 45, 11 * hour},
	} {
		start, ok := d.free(0, 1, step.preferred, step.length)
		if !ok || start != step.want {
			t.Errorf("%d minutes from %s on: %s, want %s", step.length, clockTime(step.preferred), clockTime(start), clockTime(step.want))
		}
		d.book(0, start, start+step.length)
	}
	if _, ok := d.free(0, 1, 0, 4*hour); ok {
		t.Error("four hours are free")
	}
	if _, ok := d.free(0, 2, 0, 5); ok {
		t.Error("free on a day off")
	}
	if start, ok := d.taken(0, 10*hour+10); !ok || start != 10*hour+10 {
		t.Errorf("taken at %s", clockTime(start))
	}
}

func TestNHSNumbersAreValidAndUnique(t *testing.T) {
	var seen []string
	for n := range 2000 {
		number := schema.Digits(nhsNumber(n))
		sum := 0
		for i, d := range number[:9] {
			sum += int(d-'0') * (10 - i)
		}
		if check := (11 - sum%11) % 11; len(number) != 10 || check != int(number[9]-'0') {
			t.Errorf("%s has a wrong check digit", number)
		}
		seen = append(seen, number)
	}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 2000 {
		t.Error("repeated numbers")
	}
}
