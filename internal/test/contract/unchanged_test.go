package contract

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql/schema"

	"chairside/ent"
	"chairside/ent/migrate"
	"chairside/internal/apispec/limit"
	feedtable "chairside/internal/entx/table"
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

// watchedList is a list as a client knows it.
type watchedList struct{ path, tag, body string }

// watchedLists reads the lists whose tags have positions.
func watchedLists(t *testing.T, e *harness.Env, w *world, token string) (lists []watchedList) {
	t.Helper()
	for _, op := range operations() {
		if len(op.Watches) > 0 {
			path := w.request(op, 0).Path
			path += separator(path) + "per_page=10"
			r := positioned(t, e, path, token)
			if meta, _ := r.JSON["meta"].(map[string]any); fmt.Sprint(meta["total"]) == "0" {
				t.Errorf("%s has no rows to change", path)
			}
			lists = append(lists, watchedList{path, r.Header.Get("ETag"), string(r.Raw)})
		}
	}
	if len(lists) < 20 {
		t.Fatalf("only %d lists have positions", len(lists))
	}
	return lists
}

// TestChangesOfAnyTableShowInLists changes the columns of each table with SQL. A list whose body
// differs afterwards must not answer 304 to the tag from before. Where the feed leaves out updates of
// some columns, each column is changed alone.
func TestChangesOfAnyTableShowInLists(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		run(t, e)
		w := loadWorld(t, e, "demo")
		tokens := map[string]string{} // one for each table, because of the rate limit
		for _, table := range migrate.Tables {
			tokens[table.Name] = e.Token(t, "")
		}
		for _, table := range migrate.Tables {
			owner := "practice_id"
			if table.Name == "practices" {
				owner = "id"
			}
			if !table.HasColumn(owner) || slices.Contains([]string{"access_tokens", "feed_changes"}, table.Name) {
				continue
			}
			token := tokens[table.Name]
			lists := watchedLists(t, e, w, token)
			changes := changesOf(t, e, table, owner, w.practice)
			if slices.ContainsFunc(ent.FeedSources, func(s feedtable.FeedSource) bool { return s.Table == table.Name && len(s.Compared) > 0 }) {
				for _, change := range changes { // some are not in the feed
					changeRows(t, e, table, owner, w.practice, change)
					compareWithTags(t, e, token, lists, table.Name+": "+change)
					lists = watchedLists(t, e, w, token)
				}
			} else if len(changes) > 0 {
				changeRows(t, e, table, owner, w.practice, changes...)
				compareWithTags(t, e, token, lists, table.Name)
			}
		}
	})
}

// compareWithTags sends the tags of lists after a change. A list that has changed must not be 304.
func compareWithTags(t *testing.T, e *harness.Env, token string, lists []watchedList, change string) {
	t.Helper()
	for _, l := range lists {
		r := e.Do(t, harness.Request{Path: l.path, Token: token, Header: map[string]string{"If-None-Match": l.tag}})
		if r.Code != http.StatusNotModified {
			r.Status(t, http.StatusOK)
		} else if now := e.Get(t, l.path, token).Status(t, http.StatusOK); string(now.Raw) != l.body {
			t.Errorf("%s: 304 after a change of %s", l.path, change)
		}
	}
}

// changesOf returns the assignments that change a table's columns and that no constraint refuses
// together.
func changesOf(t *testing.T, e *harness.Env, table *schema.Table, owner, practice string) (changes []string) {
	t.Helper()
	for _, column := range table.Columns {
		value, ok := map[string]string{
			"string": "%s || 'x'", "int64": "%s + 1", "int": "%s + 1", "bool": "NOT %s", "time.Time": aDayLater[e.DB.Dialect],
		}[column.Type.String()]
		// Without these, the token would end, or the practice have no time zone.
		needed := slices.Contains([]string{"users.active", "users.role", "practices.time_zone"}, table.Name+"."+column.Name)
		// What SQL appends to a sealed value does not open.
		sealed := slices.ContainsFunc(ent.Limits, func(l limit.Column) bool { return l.Sealed && l.Table == table.Name && l.Name == column.Name })
		if !ok || needed || sealed || strings.HasSuffix(column.Name, "id") {
			continue
		}
		change := column.Name + " = " + fmt.Sprintf(value, column.Name)
		tx, err := e.DB.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), updateOf(table, owner, append(changes, change)), practice); err == nil {
			changes = append(changes, change)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	return changes
}

func changeRows(t *testing.T, e *harness.Env, table *schema.Table, owner, practice string, changes ...string) {
	t.Helper()
	if _, err := e.DB.SQL.ExecContext(t.Context(), updateOf(table, owner, changes), practice); err != nil {
		t.Fatal(err)
	}
}

// updateOf changes at most 1,500 rows, because more changes make positions worthless.
func updateOf(table *schema.Table, owner string, changes []string) string {
	return fmt.Sprintf("UPDATE %[1]s SET %[2]s WHERE id IN (SELECT id FROM %[1]s WHERE %[3]s = $1 ORDER BY id LIMIT 1500)", table.Name, strings.Join(changes, ", "), owner)
}

// TestUnchangedListsDoNotDependOnTheTime: a list whose body changes with the clock must not answer
// 304.
func TestUnchangedListsDoNotDependOnTheTime(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		run(t, e)
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		before := watchedLists(t, e, w, token)
		e.Clock.Advance(13 * 24 * time.Hour) // tokens that are not used end after 14 days
		for _, l := range before {
			if string(e.Get(t, l.path, token).Status(t, http.StatusOK).Raw) != l.body {
				t.Errorf("%s depends on the time, so it must not be watched", l.path)
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

// TestConfirmedListsAreNotReadAgain: a change that a list does not show makes the server read it, but
// not for each request from then on.
func TestConfirmedListsAreNotReadAgain(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		run(t, e)
		token := e.Token(t, "")
		const path = "/v1/patients?per_page=7"
		first := positioned(t, e, path, token)
		tag := first.Header.Get("ETag")
		listed := first.Column(t, "patients", "id")
		change := func(shown bool) {
			for id := 1; ; id++ {
				if slices.Contains(listed, strconv.Itoa(id)) == shown {
					e.Do(t, harness.Request{Method: http.MethodPatch, Path: fmt.Sprint("/v1/patients/", id), Token: token,
						Body: map[string]any{"patient": map[string]any{"preferred_name": "Bo"}}}).Status(t, http.StatusOK)
					return
				}
			}
		}
		reads := func() int {
			e.Settle()
			return strings.Count(e.Log.String(), `"records"`)
		}
		change(false)
		for deadline := time.Now().Add(10 * time.Second); ; {
			before := reads()
			r := e.Do(t, harness.Request{Path: path, Token: token, Header: map[string]string{"If-None-Match": tag}})
			if r.Code != http.StatusNotModified || r.Header.Get("ETag") != tag {
				t.Fatalf("status %d with tag %s for %s", r.Code, r.Header.Get("ETag"), tag)
			}
			if reads() == before {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the list is read for each request")
			}
		}
		change(true)
		if r := e.Do(t, harness.Request{Path: path, Token: token, Header: map[string]string{"If-None-Match": tag}}); r.Code != http.StatusOK {
			t.Errorf("status %d after a change that the list shows", r.Code)
		}
	})
}
