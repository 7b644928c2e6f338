package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/migrate"
	"chairside/internal/report"
	"chairside/ogent"
)

// parts are tables that reports read as a part of something else, and its scope.
var parts = map[string]string{
	"working_sessions":     "practice:read",
	"payment_explanations": "financials:read",
	"practices":            "practice:read",
	"users":                "practice:read", // names of practitioners, which that scope gives over the API, too
}

// scopeOf is the scope with which the API gives the rows of a table, "" for an
// unknown one.
func scopeOf(table string) string {
	if s, ok := parts[table]; ok {
		return s
	}
	id := "list"
	for word := range strings.SplitSeq(table, "_") {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return ogent.Operations[id].Scope
}

var words = regexp.MustCompile(`[a-z_]+`)

// TestReportsNameWhatTheyRead: every table in a statement of a report is one of a
// scope that the report names, so that a report that begins to read money is
// closed to reception.
func TestReportsNameWhatTheyRead(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental")
		for i := range report.All {
			r := &report.All[i]
			var mu sync.Mutex
			read := map[string]bool{}
			driver := dialect.Debug(entsql.NewDriver(p.Dialect, entsql.Conn{ExecQuerier: p.SQL}), func(statement ...any) {
				mu.Lock()
				defer mu.Unlock()
				for _, word := range words.FindAllString(fmt.Sprint(statement...), -1) {
					read[word] = true
				}
			})
			for _, site := range []*uuid.UUID{nil, &high.ID} {
				f := report.Filter{From: today.AddMonths(-1), To: today, SiteID: site}
				if _, err := r.Ask(p.ctx, ent.NewClient(ent.Driver(driver)), f); err != nil {
					t.Fatalf("%s: %v", r.Name, err)
				}
			}
			found := 0
			for _, table := range migrate.Tables {
				if !read[table.Name] {
					continue
				}
				found++
				if needed := scopeOf(table.Name); needed == "" || !r.Reads.Allows(needed) {
					t.Errorf("%s reads %s (%s) and names only %s", r.Name, table.Name, needed, r.Reads)
				}
			}
			if found == 0 {
				t.Errorf("%s reads no table", r.Name)
			}
		}
	})
}
