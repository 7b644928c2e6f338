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

// parts maps tables without a resource of their own to the scope that reading them needs.
var parts = map[string]string{
	"working_sessions":     "practice:read",
	"payment_explanations": "financials:read",
	"practices":            "practice:read",
	"users":                "practice:read", // names of practitioners, which the API shows with this scope, too
}

// scopeOf returns the scope that the API requires to list the rows of a table, "" if it
// does not list them.
func scopeOf(table string) string {
	if s, ok := parts[table]; ok {
		return s
	}
	id := "list" + strings.ReplaceAll(table, "_", "") // but for its capitals: nhs_claims is listNHSClaims
	for listed, operation := range ogent.Operations {
		if strings.EqualFold(listed, id) {
			return operation.Scope
		}
	}
	return ""
}

// source matches a table that a statement reads; columns may have the names of tables.
var source = regexp.MustCompile("(?:FROM|JOIN) [`\"]?([a-z_]+)")

// TestReportsDeclareScopesOfTablesRead: a report declares the scopes of all tables that its
// statements name. A report that starts to read financial tables is thus hidden from
// receptionists.
func TestReportsDeclareScopesOfTablesRead(t *testing.T) {
	each(t, func(t *testing.T, p practice) {
		high := p.site(t, "High Street Dental")
		for i := range report.All {
			r := &report.All[i]
			var mu sync.Mutex
			read := map[string]bool{}
			driver := dialect.Debug(entsql.NewDriver(p.Dialect, entsql.Conn{ExecQuerier: p.SQL}), func(statement ...any) {
				mu.Lock()
				defer mu.Unlock()
				for _, table := range source.FindAllStringSubmatch(fmt.Sprint(statement...), -1) {
					read[table[1]] = true
				}
			})
			for _, site := range []*uuid.UUID{nil, &high.ID} {
				f := report.Filter{From: today.AddMonths(-1), To: today, SiteID: site, Keys: p.Keys}
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
					t.Errorf("%s reads %s, which needs the scope %q, but declares only %s", r.Name, table.Name, needed, r.Reads)
				}
			}
			if found == 0 {
				t.Errorf("%s reads no table", r.Name)
			}
		}
	})
}
