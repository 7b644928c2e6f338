package contract

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent/migrate"
	"chairside/internal/test/harness"
)

// run runs the server's background work, which tags lists with positions in the change feed.
func run(t *testing.T, e *harness.Env) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Server.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// positioned returns a response whose tag has a position. The feed must have seen one first.
func positioned(t *testing.T, e *harness.Env, path, token string) *harness.Response {
	t.Helper()
	for range 200 {
		r := e.Get(t, path, token)
		r.Status(t, http.StatusOK)
		if strings.Contains(r.Header.Get("ETag"), ".") {
			return r
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: no position in the tag", path)
	return nil
}

// TestChangesOfAnyColumnShowInLists changes each column of each table with SQL. A list whose body
// differs afterwards must not answer 304 to the tag from before.
func TestChangesOfAnyColumnShowInLists(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		run(t, e)
		w := loadWorld(t, e, "demo")
		type list struct{ path, tag, body string }
		for _, table := range migrate.Tables {
			if !table.HasColumn("practice_id") || slices.Contains([]string{"access_tokens", "feed_changes"}, table.Name) {
				continue
			}
			token := e.Token(t, "") // of its own, because of its rate limit
			var lists []list
			for _, op := range operations() {
				if len(op.Watches) > 0 {
					path := w.request(op, 0).Path
					path += separator(path) + "per_page=5"
					r := positioned(t, e, path, token)
					lists = append(lists, list{path, r.Header.Get("ETag"), string(r.Raw)})
				}
			}
			if len(lists) < 20 {
				t.Fatalf("only %d lists have positions", len(lists))
			}
			for _, column := range table.Columns {
				value, ok := map[string]string{"string": "%s || 'x'", "int64": "%s + 1", "bool": "NOT %s", "time.Time": aDayLater[e.DB.Dialect]}[column.Type.String()]
				if !ok || column.Unique || len(column.Enums) > 0 || strings.HasSuffix(column.Name, "id") {
					continue
				}
				if table.Name == "users" && (column.Name == "active" || column.Name == "role") {
					continue // it would end the token
				}
				// Few rows, because too many changes renew the tags.
				set := fmt.Sprintf("UPDATE %[1]s SET %[2]s = "+strings.ReplaceAll(value, "%s", "%[2]s")+
					" WHERE id IN (SELECT id FROM %[1]s WHERE practice_id = $1 ORDER BY id LIMIT 5)", table.Name, column.Name)
				if _, err := e.DB.SQL.ExecContext(t.Context(), set, w.practice); err != nil {
					continue // a constraint refuses the value
				}
				for i, l := range lists {
					known := e.Do(t, harness.Request{Path: l.path, Token: token, Header: map[string]string{"If-None-Match": l.tag}})
					if known.Code != http.StatusNotModified {
						known.Status(t, http.StatusOK)
						lists[i].tag, lists[i].body = known.Header.Get("ETag"), string(known.Raw)
						continue
					}
					if now := e.Get(t, l.path, token).Status(t, http.StatusOK); string(now.Raw) != l.body {
						t.Errorf("%s: 304 after a change of %s.%s", l.path, table.Name, column.Name)
						lists[i].tag, lists[i].body = now.Header.Get("ETag"), string(now.Raw)
					}
				}
			}
		}
	})
}

// aDayLater are the expressions for a time that is later than a column's, by dialect.
var aDayLater = map[string]string{"postgres": "%s + interval '1 day'", "sqlite3": "%s + 86400000000"}

// TestUnchangedListsAreNotRead: a 304 reads no patients, so it is no access to their records.
func TestUnchangedListsAreNotRead(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		run(t, e)
		token, other := e.Token(t, ""), e.Token(t, "")
		const path = "/v1/patients?per_page=7"
		tag := positioned(t, e, path, token).Header.Get("ETag")
		ask := func(path, token, tag string) *harness.Response {
			return e.Do(t, harness.Request{Path: path, Token: token, Header: map[string]string{"If-None-Match": tag}})
		}
		e.Settle()
		logged := strings.Count(e.Log.String(), `"records"`)
		for range 3 {
			if r := ask(path, token, tag); r.Code != http.StatusNotModified || r.Header.Get("ETag") != tag {
				t.Fatalf("status %d with tag %s for %s", r.Code, r.Header.Get("ETag"), tag)
			}
		}
		e.Settle()
		if n := strings.Count(e.Log.String(), `"records"`); n != logged {
			t.Errorf("a 304 was logged as an access to records")
		}
		for name, r := range map[string]*harness.Response{
			"another page":     ask("/v1/patients?per_page=8", token, tag),
			"another list":     ask("/v1/sites", token, tag),
			"another practice": ask(path, e.TokenOf(t, "admin@second.chairside.test", "", nil), tag),
		} {
			if r.Code != http.StatusOK {
				t.Errorf("%s: status %d", name, r.Code)
			}
		}
		ask(path, other, tag).Status(t, http.StatusNotModified) // read, and the same
		created := loadWorld(t, e, "demo").request(find(t, "createPatient"), 0)
		e.Post(t, created.Path, token, created.Body).Status(t, http.StatusCreated)
		r := ask(path, token, tag)
		if r.Code != http.StatusOK || r.Header.Get("ETag") == tag {
			t.Errorf("status %d after a change", r.Code)
		}
		ask(path, token, `"nonsense.x.y"`).Status(t, http.StatusOK)
	})
}
