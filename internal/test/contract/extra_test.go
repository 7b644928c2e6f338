package contract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/entx"
	"chairside/internal/principal"
	"chairside/internal/test/harness"
	"chairside/ogent"
)

// extraCondition is a condition that no list has as a filter; about a third of the rows
// match. Its OR has no parentheses, as in hand-written SQL.
func extraCondition(s *sql.Selector) {
	id := "CAST(" + s.C("id") + " AS text)"
	digit := "substr(" + id + ", length(" + id + "), 1)"
	s.Where(sql.ExprP(digit + " IN ('1', '4', '7', 'a') OR " + digit + " = 'd'"))
}

func meetsExtraCondition(id string) bool { return strings.ContainsAny(id[len(id)-1:], "147ad") }

// interceptors are the ways to narrow a query.
var interceptors = map[string]func(about func(ent.Query) bool) ent.Interceptor{
	"confine": func(about func(ent.Query) bool) ent.Interceptor {
		return traverse(about, func(q ent.Query) { q.(interface{ Confine(...func(*sql.Selector)) }).Confine(extraCondition) })
	},
	"where": func(about func(ent.Query) bool) ent.Interceptor {
		return traverse(about, func(q ent.Query) { narrow(q, "Where", extraCondition) })
	},
	"modify": func(about func(ent.Query) bool) ent.Interceptor {
		return traverse(about, func(q ent.Query) { narrow(q, "Modify", extraCondition) })
	},
	"where and order": func(about func(ent.Query) bool) ent.Interceptor {
		return traverse(about, func(q ent.Query) {
			narrow(q, "Where", extraCondition)
			narrow(q, "Order", func(s *sql.Selector) { s.OrderBy(sql.Desc(s.C("id"))) }) // after the id: no effect
		})
	},
}

func traverse(about func(ent.Query) bool, change func(ent.Query)) ent.Interceptor {
	return ent.TraverseFunc(func(_ context.Context, q ent.Query) error {
		if about(q) {
			change(q)
		}
		return nil
	})
}

// narrow passes a function to a query's method.
func narrow(q ent.Query, method string, change func(*sql.Selector)) {
	m := reflect.ValueOf(q).MethodByName(method)
	m.Call([]reflect.Value{reflect.ValueOf(change).Convert(m.Type().In(0).Elem())})
}

// TestListsWithAnExtraCondition reads pages of each generated list with a condition
// beyond its filters, in each order, and compares rows and totals with the filtered whole
// list. A list that takes its total or a page's position from a counter fails here.
func TestListsWithAnExtraCondition(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		whole := e.As(t, "demo")
		c := *principal.Must(whole)
		site, err := e.DB.Ent.Site.Query().FirstID(whole)
		if err != nil {
			t.Fatal(err)
		}
		c.SiteID = &site
		plain := ogent.Reads{Client: e.DB.Ent, Keys: e.DB.Keys}
		var listed string // the entity whose queries the interceptors narrow
		intercepted := map[string]ogent.Reads{}
		for name, intercept := range interceptors {
			client := ent.NewClient(ent.Driver(sql.OpenDB(e.DB.Dialect, e.DB.SQL)))
			client.Intercept(intercept(func(q ent.Query) bool { return fmt.Sprintf("%T", q) == "*ent."+listed+"Query" }))
			intercepted[name] = ogent.Reads{Client: client, Keys: e.DB.Keys}
		}
		var names []string
		for _, o := range operations() {
			many, ok := strings.CutPrefix(o.ID, "list")
			read := reflect.ValueOf(plain).MethodByName("Read" + many)
			if !ok || !read.IsValid() { // slots are computed, not read
				continue
			}
			names = append(names, many)
			rows := read.Type().Out(0).Elem().Name()
			listed = strings.TrimSuffix(rows, "Summary")
			for name, ctx := range map[string]context.Context{"practice": whole, "site": principal.With(whole, &c)} {
				for _, order := range o.sorts() {
					for _, direction := range []string{"asc", "desc"} {
						about := fmt.Sprintf("%s of the %s by %s %s", o.ID, name, order, direction)
						extra := reflect.MakeFunc(read.Type().In(2).Elem(), func(args []reflect.Value) []reflect.Value {
							extraCondition(args[0].Interface().(*sql.Selector))
							return nil
						})
						l := list{t: t, ctx: ctx, order: order, direction: direction}
						all, _ := l.allIDs(plain, many)
						want := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return !meetsExtraCondition(id) })
						check := func(how string, reads ogent.Reads, extra ...reflect.Value) {
							for _, size := range []int{7, 100} {
								last := (len(want) + size - 1) / size
								for page := range last + 2 {
									// The first and the last pages, and those where counting ends.
									if page < 1 || page > 3 && page < last-1 && page != last/2 && page != (500+size)/size && page != 520/size+1 {
										continue
									}
									from, to := min((page-1)*size, len(want)), min(page*size, len(want))
									got, total := l.page(reads, many, page, size, extra...)
									if total != len(want) || !slices.Equal(got, want[from:to]) {
										t.Fatalf("%s, %s, page %d of %d rows: %v of %d, want %v of %d", about, how, page, size, got, total, want[from:to], len(want))
									}
								}
							}
						}
						check("extra", plain, extra)
						for how, reads := range intercepted {
							if how == "confine" || order == o.sorts()[0] && direction == "desc" && name == "practice" { // each is slow
								check(how, reads)
							}
						}
					}
				}
			}
		}
		var generated int
		for i := range reflect.TypeOf(plain).NumMethod() {
			m := reflect.TypeOf(plain).Method(i)
			if strings.HasPrefix(m.Name, "Read") && m.Type.Out(0).Kind() == reflect.Slice { // else it reads one record
				generated++
			}
		}
		if generated != len(names) {
			t.Errorf("%d lists are generated, %d were read: %v", generated, len(names), names)
		}
	})
}

// TestListsRefuseInterceptors that could change a query while it runs: reading rows would
// pass them by.
func TestListsRefuseInterceptors(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		client := ent.NewClient(ent.Driver(sql.OpenDB(e.DB.Dialect, e.DB.SQL)))
		client.Intercept(ent.InterceptFunc(func(next ent.Querier) ent.Querier { return next }))
		_, err := client.Patient.Query().Rows(e.As(t, "demo"), patient.FieldID)
		if !errors.Is(err, entx.ErrIntercepted) {
			t.Error(err)
		}
	})
}

// sorts are the orders of a list.
func (o operation) sorts() []string {
	for _, p := range o.Params {
		if p.Name == "sort_by" {
			return p.Values
		}
	}
	return nil
}

// list reads pages in one order.
type list struct {
	t                *testing.T
	ctx              context.Context
	order, direction string
}

// page calls the generated method that reads a list and returns the ids.
func (l list) page(reads ogent.Reads, many string, page, size int, extra ...reflect.Value) (ids []string, total int) {
	l.t.Helper()
	method := reflect.ValueOf(reads).MethodByName("Read" + many)
	params := reflect.New(method.Type().In(1)).Elem()
	set := func(name string, value any) {
		field := params.FieldByName(name)
		v := field.FieldByName("Value")
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
		field.FieldByName("Set").SetBool(true)
	}
	set("Page", page)
	set("PerPage", size)
	set("SortBy", l.order)
	set("SortDirection", l.direction)
	out := method.Call(append([]reflect.Value{reflect.ValueOf(l.ctx), params}, extra...))
	if err, _ := out[len(out)-1].Interface().(error); err != nil {
		l.t.Fatal(err)
	}
	total = out[1].Interface().(ogent.Meta).Total
	if all, ok := out[2].Interface().(interface {
		Count(context.Context) (int, error)
	}); ok {
		if n, err := all.Count(l.ctx); n != total || err != nil {
			l.t.Errorf("%s: the query for sums finds %d rows of %d, %v", many, n, total, err)
		}
	}
	for i := range out[0].Len() {
		ids = append(ids, fmt.Sprint(out[0].Index(i).FieldByName("ID").Interface()))
	}
	return ids, total
}

// allIDs reads all pages.
func (l list) allIDs(reads ogent.Reads, many string) (ids []string, total int) {
	l.t.Helper()
	for page := 1; ; page++ {
		got, n := l.page(reads, many, page, 100)
		ids = append(ids, got...)
		if len(got) < 100 {
			if n != len(ids) {
				l.t.Errorf("%s: %d rows of %d", many, len(ids), n)
			}
			return ids, n
		}
	}
}
