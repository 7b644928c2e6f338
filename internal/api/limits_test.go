package api_test

import (
	"strings"
	"testing"

	"chairside/internal/chairsidetest"
)

// TestQueriesWithoutEnd are refused, not passed on to the database.
func TestQueriesWithoutEnd(t *testing.T) {
	chairsidetest.Each(t, func(t *testing.T, e *chairsidetest.Env) {
		token, practitioner := e.Token(t, ""), hire(t, e, mondays...)
		for _, query := range []string{strings.Repeat("a ", 100_000), strings.Repeat("1 ", 100_000), strings.Repeat("x", 300_000)} {
			e.Get(t, "/v1/patients?query="+strings.ReplaceAll(query, " ", "+"), token).Error(t, 400, "invalid_parameter", "query")
		}
		e.Get(t, "/v1/patients?query="+strings.Repeat("%C3%A9+", 127), token).Status(t, 200)

		same := strings.Repeat(text(practitioner)+",", 70_000) + text(practitioner)
		if got := free(t, e, token, window(same)); len(got) != 2 {
			t.Errorf("one practitioner named often has %v", got)
		}
		var many strings.Builder
		for id := range 70_000 {
			many.WriteString(text(id) + ",")
		}
		e.Get(t, window(many.String()+"1"), token).Error(t, 400, "invalid_parameter", "practitioner_ids")
	})
}
