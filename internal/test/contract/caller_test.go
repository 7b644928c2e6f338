package contract

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
)

// entities returns c's client of each entity by name.
func entities(c *ent.Client) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.IsExported() && strings.HasSuffix(field.Type.String(), "Client") {
			all[field.Name] = v.Field(i)
		}
	}
	return all
}

// call calls a method of v and returns its first result.
func call(v reflect.Value, method string, args ...any) reflect.Value {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	return v.MethodByName(method).Call(in)[0]
}

// failure calls a method and returns its error.
func failure(v reflect.Value, method string, args ...any) error {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	out := v.MethodByName(method).Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

func TestQueriesNeedAPrincipal(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		all := entities(e.DB.Ent)
		if len(all) < 25 {
			t.Fatalf("found %d entities", len(all))
		}
		for name, client := range all {
			for _, method := range []string{"All", "IDs", "Count", "Exist", "First", "FirstID", "Only", "OnlyID"} {
				if err := failure(call(client, "Query"), method, t.Context()); !errors.Is(err, principal.ErrNoPrincipal) {
					t.Errorf("%s.Query().%s: %v", name, method, err)
				}
			}
			if err := failure(call(client, "Query"), "Rows", t.Context(), "1"); !errors.Is(err, principal.ErrNoPrincipal) {
				t.Errorf("%s.Query().Rows: %v", name, err)
			}
		}
	})
}

func TestMutationsNeedAPrincipal(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := loadWorld(t, e, "demo")
		before := dump(t, e, w.practice)
		for name := range entities(e.DB.Ent) {
			for _, method := range []string{"Create", "Update", "UpdateOneID", "Delete", "DeleteOneID"} {
				// Each in its own transaction: on PostgreSQL a failure ends it.
				err := e.DB.Tx(t.Context(), func(tx *ent.Client) error {
					return attempt(t.Context(), tx, name, method, w)
				})
				if !errors.Is(err, principal.ErrNoPrincipal) {
					t.Errorf("%s.%s: %v", name, method, err)
				}
			}
		}
		compare(t, before, dump(t, e, w.practice))
	})
}

// attempt changes rows of the practice.
func attempt(ctx context.Context, tx *ent.Client, entity, method string, w *world) error {
	client := entities(tx)[entity]
	var args []any
	if strings.HasSuffix(method, "ID") {
		args = []any{firstID(client, w)}
	}
	builder := call(client, method, args...)
	practice := uuid.MustParse(w.practice)
	if set := builder.MethodByName("SetPracticeID"); method == "Create" && set.IsValid() {
		set.Call([]reflect.Value{reflect.ValueOf(practice)})
	}
	return failure(builder, "Exec", ctx)
}

// firstID returns an id of the entity's type; the row need not exist.
func firstID(client reflect.Value, w *world) any {
	if client.MethodByName("Get").Type().In(1).Kind() == reflect.Int64 {
		return int64(1)
	}
	return uuid.MustParse(w.practice)
}

// TestMutationsStayInThePractice changes and deletes every row without a condition.
func TestMutationsStayInThePractice(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		foreign := loadWorld(t, e, "second")
		before := dump(t, e, foreign.practice)
		ctx := e.As(t, "demo")
		for name := range entities(e.DB.Ent) {
			for _, method := range []string{"Update", "Delete", "UpdateOneID", "DeleteOneID"} {
				_ = e.DB.Tx(ctx, func(tx *ent.Client) error { // most fail because other rows reference the row
					client := entities(tx)[name]
					var args []any
					if strings.HasSuffix(method, "ID") {
						args = []any{foreignID(client, name, foreign)}
						if args[0] == nil {
							return nil
						}
					}
					builder := call(client, method, args...)
					setSomeColumn(builder)
					return failure(builder, "Exec", ctx)
				})
			}
		}
		compare(t, before, dump(t, e, foreign.practice))
	})
}

// setSomeColumn sets the first text column that the builder can set.
func setSomeColumn(builder reflect.Value) {
	for _, setter := range []string{"SetUpdatedAt", "SetName", "SetNotes", "SetValue"} {
		set := builder.MethodByName(setter)
		if !set.IsValid() {
			continue
		}
		argument := reflect.New(set.Type().In(0)).Elem()
		if setter == "SetUpdatedAt" {
			argument.Set(reflect.ValueOf(later))
		} else {
			argument.SetString("changed")
		}
		set.Call([]reflect.Value{argument})
	}
}

// foreignID returns the id of a row of the entity in a practice, or nil.
func foreignID(client reflect.Value, entity string, w *world) any {
	if entity == "Practice" {
		return uuid.MustParse(w.practice)
	}
	tables := []string{}
	for table := range w.ids {
		if strings.EqualFold(strings.ReplaceAll(table, "_", ""), entity+"s") || strings.EqualFold(strings.ReplaceAll(table, "_", ""), strings.TrimSuffix(entity, "y")+"ies") {
			tables = append(tables, table)
		}
	}
	slices.Sort(tables)
	if len(tables) == 0 || len(w.ids[tables[0]]) == 0 {
		return nil
	}
	id := w.ids[tables[0]][0]
	if client.MethodByName("Get").Type().In(1).Kind() == reflect.Int64 {
		n, _ := strconv.ParseInt(id, 10, 64)
		return n
	}
	return uuid.MustParse(id)
}
