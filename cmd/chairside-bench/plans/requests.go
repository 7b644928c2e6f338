package plans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/ogent"
)

// Request is a request for a list with a filter or an order.
type Request struct {
	Operation string // operationId in the API document
	What      string // the filter or order requested
	Path      string
	Filters   int // number of filters
}

// The pages that are requested if the list is long enough.
const (
	earlyPage = 5    // sorted by ID
	deepPage  = 1000 // in the default order
)

// world provides values for filters from the database.
type world struct {
	db       *pgx.Conn
	practice pgtype.UUID
	asOf     civil.Date
}

// criterion is a filter with a value, or an order with a direction.
type criterion struct {
	param, value string
	direction    string // of an order
}

// filters counts the filters among criteria.
func filters(criteria ...criterion) (n int) {
	for _, c := range criteria {
		if c.direction == "" {
			n++
		}
	}
	return n
}

func (c criterion) String() string {
	if c.direction != "" {
		return "by " + c.value + " " + c.direction
	}
	return c.param + "=" + c.value
}

func (c criterion) add(query url.Values) {
	query.Set(c.param, c.value)
	if c.direction != "" {
		query.Set("sort_direction", c.direction)
	}
}

// Requests returns requests for every list of the API: the default order, a deep page, each
// order and direction, several values of each filter, the same for an early page in id
// order, and for lists without sums every pair of these, because an index for one may
// discard most rows for the other. asOf is the last day of the data.
func Requests(ctx context.Context, db *pgx.Conn, practice pgtype.UUID, asOf civil.Date) ([]Request, error) {
	lists, err := lists()
	if err != nil {
		return nil, err
	}
	w := world{db, practice, asOf}
	var all []Request
	for _, path := range slices.Sorted(maps.Keys(lists)) {
		found, err := w.requests(ctx, path, lists[path])
		if err != nil {
			return nil, fmt.Errorf("plans: %s: %w", path, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// lists returns the operations that return pages, by path.
func lists() (map[string]codec.Operation, error) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(ogent.Document, &document); err != nil {
		return nil, err
	}
	lists := map[string]codec.Operation{}
	for path, item := range document.Paths {
		var get struct{ OperationID string }
		if raw, ok := item["get"]; ok {
			if err := json.Unmarshal(raw, &get); err != nil {
				return nil, err
			}
		}
		o, ok := ogent.Operations[get.OperationID]
		if ok && slices.ContainsFunc(o.Params, func(p codec.Param) bool { return p.Name == "page" }) {
			lists[path] = o
		}
	}
	return lists, nil
}

// requests returns the requests for one list.
func (w world) requests(ctx context.Context, path string, o codec.Operation) ([]Request, error) {
	table := strings.TrimPrefix(path, "/")
	if o.ID == "listPatientStats" {
		table = "patients"
	}
	base, err := w.base(ctx, o)
	if err != nil {
		return nil, err
	}
	var all []Request
	add := func(what string, query url.Values) *Request {
		maps.Copy(query, base)
		all = append(all, Request{Operation: o.ID, What: what, Path: "/v1" + path + "?" + query.Encode()})
		return &all[len(all)-1]
	}
	add("default order", url.Values{})
	add(fmt.Sprintf("page %d", deepPage), url.Values{"page": {fmt.Sprint(deepPage)}})
	byID := url.Values{"page": {fmt.Sprint(earlyPage)}, "sort_by": {"id"}}
	ordered := slices.ContainsFunc(o.Params, func(p codec.Param) bool { return p.Name == "sort_by" })
	if ordered {
		add(fmt.Sprintf("page %d by id", earlyPage), maps.Clone(byID))
	}
	var criteria []criterion
	for _, p := range o.Params {
		if base.Has(p.Name) || base.Has(p.Name+"[]") {
			continue
		}
		found, err := w.criteria(ctx, table, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		criteria = append(criteria, found...)
	}
	for i, one := range criteria {
		query := url.Values{}
		one.add(query)
		add(one.String(), query).Filters = filters(one)
		if ordered && one.direction == "" {
			query := maps.Clone(byID)
			one.add(query)
			add(fmt.Sprintf("%s, page %d by id", one, earlyPage), query).Filters = filters(one)
		}
		for _, other := range criteria[:i] {
			if other.param == one.param || summed(o.ID) {
				continue
			}
			query := url.Values{}
			other.add(query)
			one.add(query)
			add(other.String()+", "+one.String(), query).Filters = filters(one, other)
		}
	}
	return all, nil
}

// criteria returns the criteria to try for a parameter.
func (w world) criteria(ctx context.Context, table string, p codec.Param) (criteria []criterion, err error) {
	switch p.Name {
	case "page", "per_page", "sort_direction", "cursor", codec.FieldsParam, codec.ExpandParam:
		return nil, nil
	case "ids":
		values, err := w.query(ctx, "SELECT id::text FROM "+pgx.Identifier{table}.Sanitize()+" WHERE practice_id = $1 ORDER BY id LIMIT 50")
		if len(values) > 0 { // no practice of the benchmark has webhooks
			criteria = []criterion{{param: p.Name, value: strings.Join(values, ",")}}
		}
		return criteria, err
	case "sort_by":
		for _, key := range p.Values {
			for _, direction := range []string{"asc", "desc"} {
				criteria = append(criteria, criterion{param: p.Name, value: key, direction: direction})
			}
		}
		return criteria, nil
	}
	values, err := w.values(ctx, table, p)
	for _, v := range values {
		criteria = append(criteria, criterion{param: p.Name, value: v})
	}
	return criteria, err
}

// base returns a list's required parameters.
func (w world) base(ctx context.Context, o codec.Operation) (url.Values, error) {
	switch o.ID {
	case "listFees":
		id, err := w.first(ctx, "SELECT id::text FROM payment_plans WHERE practice_id = $1 ORDER BY id LIMIT 1")
		return url.Values{"payment_plan_id": id}, err
	case "listRotaPractitionerDiaries":
		return url.Values{"after": {w.asOf.String()}, "before": {w.asOf.AddDays(14).String()}}, nil
	case "listAvailability":
		ids, err := w.first(ctx, "SELECT id::text FROM practitioners WHERE practice_id = $1 AND active ORDER BY id LIMIT 10")
		start := time.Now().UTC().AddDate(0, 0, 1).Truncate(24 * time.Hour)
		return url.Values{"practitioner_ids[]": ids, "start_time": {start.Format(time.RFC3339)}, "finish_time": {start.AddDate(0, 0, 14).Format(time.RFC3339)}}, err
	}
	return url.Values{}, nil
}

// first returns the texts of a query of the practice, and an error if there are none.
func (w world) first(ctx context.Context, query string) ([]string, error) {
	values, err := w.query(ctx, query)
	if err == nil && len(values) == 0 {
		err = errors.New("no row to request")
	}
	return values, err
}

// query returns the texts of a query of the practice.
func (w world) query(ctx context.Context, query string) ([]string, error) {
	rows, err := w.db.Query(ctx, query, w.practice)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// values returns the values to try for a filter: all values of an enumeration; times near
// the end, in the middle, and before all data.
func (w world) values(ctx context.Context, table string, p codec.Param) ([]string, error) {
	days := []civil.Date{w.asOf.AddDays(-1), w.asOf.AddDays(-500), w.asOf.AddDays(-20_000)}
	var values []string
	switch p.Kind {
	case codec.Enum:
		return p.Values, nil
	case codec.Boolean:
		return []string{"true", "false"}, nil
	case codec.Day, codec.Date:
		for _, day := range days {
			values = append(values, day.String())
		}
		return values, nil
	case codec.Time:
		for _, day := range days {
			values = append(values, day.Time().Add(9*time.Hour).Format(time.RFC3339))
		}
		return values, nil
	case codec.Integer:
		return []string{"30"}, nil
	case codec.Text:
		return w.first(ctx, `SELECT unnest(ARRAY[first_name || ' ' || last_name, last_name, mobile_phone, email_address, postcode]) FROM patients
			WHERE practice_id = $1 AND mobile_phone IS NOT NULL AND email_address IS NOT NULL ORDER BY id LIMIT 5`)
	case codec.ID, codec.UUID:
		return w.id(ctx, table, p.Name)
	}
	return nil, fmt.Errorf("no values of kind %s", p.Kind)
}

// id returns the ids that most and fewest rows of the table reference, none if no row references
// one, or any id if the table has no such column.
func (w world) id(ctx context.Context, table, column string) ([]string, error) {
	var has bool
	err := w.db.QueryRow(ctx, "SELECT count(*) > 0 FROM information_schema.columns WHERE table_name = $1 AND column_name = $2", table, column).Scan(&has)
	if err != nil {
		return nil, err
	}
	name := pgx.Identifier{column}.Sanitize()
	if !has {
		pointed := strings.TrimSuffix(column, "_id") + "s"
		return w.first(ctx, "SELECT id::text FROM "+pgx.Identifier{pointed}.Sanitize()+" WHERE practice_id = $1 ORDER BY id LIMIT 1")
	}
	return w.query(ctx, `WITH pointed AS MATERIALIZED (SELECT `+name+` AS id, count(*) AS rows FROM `+pgx.Identifier{table}.Sanitize()+`
		WHERE practice_id = $1 AND `+name+` IS NOT NULL GROUP BY 1)
		(SELECT id::text FROM pointed ORDER BY rows DESC, id LIMIT 1) UNION (SELECT id::text FROM pointed ORDER BY rows, id LIMIT 1)`)
}
