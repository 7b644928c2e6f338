package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/clock"
	"chairside/internal/events/idempotency"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgproxy"
)

// withKey returns a copy of a request with an Idempotency-Key.
func withKey(q harness.Request, key string) harness.Request {
	q.Header = map[string]string{"Idempotency-Key": key}
	return q
}

// replayed reports whether a response is that of an earlier request.
func replayed(r *harness.Response) bool { return r.Header.Get("Idempotency-Replayed") == "true" }

// countRows returns the number of rows of a table.
func countRows(t testing.TB, e *harness.Env, table string) (n int) {
	t.Helper()
	if err := e.DB.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// recordsRead returns the records in a request's line of the access log.
func recordsRead(t testing.TB, e *harness.Env, r *harness.Response) string {
	t.Helper()
	e.Settle()
	for line := range strings.Lines(e.Log.String()) {
		if strings.Contains(line, `"patient data read"`) && strings.Contains(line, r.Header.Get("X-Request-Id")) {
			var entry struct{ Records json.RawMessage }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			return string(entry.Records)
		}
	}
	return ""
}

// TestEveryWriteIsReplayed sends every operation that writes twice with one key. The second
// response is the first one, and nothing changes.
func TestEveryWriteIsReplayed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for n, op := range operations() {
			if !op.writes() {
				continue
			}
			q := withKey(w.request(op, 0), uuid.NewString())
			q.Token = token
			first := send(t, e, op, q).Status(t, op.Success)
			e.Clock.Advance(time.Minute)
			before := withoutReads(dump(t, e, w.practice))
			if n%2 == 0 {
				q.Path = strings.TrimPrefix(q.Path, "/v1") // the same operation
			}
			second := send(t, e, op, q).Status(t, op.Success)
			if replayed(first) || !replayed(second) {
				t.Errorf("%s: replayed: %v, then %v", op, replayed(first), replayed(second))
			}
			if !bytes.Equal(first.Raw, second.Raw) {
				t.Errorf("%s:\n%s\n%s", op, first.Raw, second.Raw)
			}
			for _, name := range []string{"ETag", "Content-Type", "Content-Length", "Location"} {
				if first.Header.Get(name) != second.Header.Get(name) {
					t.Errorf("%s: %s %q, then %q", op, name, first.Header.Get(name), second.Header.Get(name))
				}
			}
			if a, b := recordsRead(t, e, first), recordsRead(t, e, second); a != b || op.PatientData && op.Success != 204 && a == "" {
				t.Errorf("%s: the access log has %s, then %s", op, a, b)
			}
			compare(t, before, withoutReads(dump(t, e, w.practice)))
		}
	})
}

// withoutReads leaves out what the audit log has about reads: to replay a response is to read it.
func withoutReads(rows map[string]string) map[string]string {
	maps.DeleteFunc(rows, func(key, row string) bool {
		return strings.HasPrefix(key, "audit_reads ") || strings.HasPrefix(key, "audit_events ") && strings.Contains(row, between+"action=read"+between)
	})
	return rows
}

// TestKeyBelongsToOneRequest: another body, path, query or method is refused; another token, also of
// the same user, has keys of its own.
func TestKeyBelongsToOneRequest(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		body := func(name string) any { return map[string]any{"patient": map[string]any{"first_name": name}} }
		path := "/v1/patients/" + w.ids["patients"][0]
		q := withKey(harness.Request{Method: http.MethodPatch, Path: path, Token: token, Body: body("Ada")}, "order-17")
		e.Do(t, q).Status(t, 200)
		for name, change := range map[string]func(q *harness.Request){
			"body":   func(q *harness.Request) { q.Body = body("Bea") },
			"query":  func(q *harness.Request) { q.Path += "?unknown=1" },
			"space":  func(q *harness.Request) { q.Body = `{"patient": {"first_name":"Ada"}}` },
			"path":   func(q *harness.Request) { q.Path = "/v1/patients/" + w.ids["patients"][1] },
			"method": func(q *harness.Request) { q.Method, q.Body = http.MethodDelete, nil },
			"both": func(q *harness.Request) {
				*q = withKey(w.request(find(t, "createAppointment"), 0), "order-17")
				q.Token = token
			},
		} {
			other := q
			change(&other)
			before := dump(t, e, w.practice)
			if r := e.Do(t, other); r.Code != 422 || r.Text(t, "error.code") != "idempotency_key_reused" {
				t.Errorf("another %s: %d %s", name, r.Code, r.Raw)
			}
			compare(t, before, dump(t, e, w.practice))
		}
		if !replayed(e.Do(t, q).Status(t, 200)) {
			t.Error("the request itself is no longer replayed")
		}
		put := q
		put.Method = http.MethodPut // is handled as PATCH
		if !replayed(e.Do(t, put).Status(t, 200)) {
			t.Error("PUT is another request")
		}
		same := q
		same.Token = e.Token(t, "")
		if replayed(e.Do(t, same).Status(t, 200)) {
			t.Error("another token of the same user got the response")
		}
		same.Token, same.Path = e.TokenOf(t, "admin@second.chairside.test", "", nil), "/v1/patients/"+loadWorld(t, e, "second").ids["patients"][0]
		if replayed(e.Do(t, same).Status(t, 200)) {
			t.Error("another practice got the response")
		}
		e.Do(t, harness.Request{Method: q.Method, Path: path, Token: same.Token, Body: q.Body, Header: q.Header}).Error(t, 422, "idempotency_key_reused")
	})
}

// TestRefusedRequestsStoreNoKey: the key may be used again with a corrected body.
func TestRefusedRequestsStoreNoKey(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		for _, id := range []string{"createAppointment", "createPatient", "updateFee"} {
			op, key := find(t, id), uuid.NewString()
			q := withKey(w.request(op, 0), key)
			q.Token = token
			good := q.Body
			q.Body = map[string]any{op.Body.Key: map[string]any{op.Body.Fields[0].Name: "nonsense", "email_address": "nonsense"}}
			if id == "updateFee" {
				q.Body = map[string]any{op.Body.Key: map[string]any{"price_one": "nonsense"}}
			}
			e.Do(t, q).Error(t, 422, "validation_failed")
			if n := countRows(t, e, "idempotency_keys"); n > 0 {
				t.Errorf("%s: %d keys are stored", op, n)
			}
			q.Body = good
			if r := e.Do(t, q).Status(t, op.Success); replayed(r) {
				t.Errorf("%s: replayed", op)
			}
			execute(t, e, "DELETE FROM idempotency_keys")
		}
	})
}

// TestReplayComesBeforeTheRecord: a deletion, and a change with an entity tag that no longer
// matches because of the change itself, are replayed and not refused.
func TestReplayComesBeforeTheRecord(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		path := "/v1/appointments/" + w.ids["appointments"][0]
		q := harness.Request{Method: http.MethodPatch, Path: path, Token: token, Body: map[string]any{"appointment": map[string]any{"notes": "new"}},
			Header: map[string]string{"If-Match": e.Get(t, path, token).Header.Get("ETag"), "Idempotency-Key": "a"}}
		e.Do(t, q).Status(t, 200)
		if !replayed(e.Do(t, q).Status(t, 200)) {
			t.Error("the change was repeated")
		}
		q = withKey(harness.Request{Method: http.MethodDelete, Path: path, Token: token}, "b")
		e.Do(t, q).Status(t, 204)
		if !replayed(e.Do(t, q).Status(t, 204)) {
			t.Error("the deletion was repeated")
		}
	})
}

func TestIdempotencyKeysAreChecked(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "updateFee")
		q := w.request(op, 0)
		q.Token = token
		for _, key := range []string{" ", `""`, `"`, `"a`, `a b`, `"a b"`, `"a"b`, `"\a"`, `"a\"`, "é", "a\tb", strings.Repeat("k", 256), `"` + strings.Repeat("k", 256) + `"`, strings.Repeat("k", 60_000)} {
			r := send(t, e, op, withKey(q, key)).Error(t, 400, "invalid_parameter", "Idempotency-Key")
			if strings.Contains(string(r.Raw), "kkk") {
				t.Errorf("the error repeats the key %.20s", key)
			}
		}
		for _, keys := range [][2]string{{"a", `"a"`}, {`b"c`, `"b\"c"`}, {`d\e`, `"d\\e"`}, {strings.Repeat("k", 255), `"` + strings.Repeat("k", 255) + `"`}, {"a,b", `"a,b"`}, {"';--", "';--"}} {
			send(t, e, op, withKey(q, keys[0])).Status(t, 200)
			if !replayed(send(t, e, op, withKey(q, keys[1])).Status(t, 200)) {
				t.Errorf("%.20s and %.20s are different keys", keys[0], keys[1])
			}
		}
		e.Do(t, withKey(harness.Request{Method: http.MethodGet, Path: q.Path, Token: token}, "a b")).Status(t, 200) // ignored by reads
	})
}

// TestResponsesAreReplayedForADay checks the edges of the 24 hours, for requests and for the
// deletion of expired responses.
func TestResponsesAreReplayedForADay(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "createPatient")
		q := withKey(w.request(op, 0), "daily")
		q.Token = token
		prune := func(want int) {
			t.Helper()
			if n, err := idempotency.Prune(clock.With(t.Context(), e.Clock.Now()), e.DB); err != nil || n != want {
				t.Errorf("%d responses were deleted, %v; want %d", n, err, want)
			}
		}
		start, patients := e.Clock.Now(), countRows(t, e, "patients")
		send(t, e, op, q).Status(t, 201)
		e.Clock.Set(start.Add(idempotency.Retention - time.Millisecond))
		prune(0)
		if !replayed(send(t, e, op, q).Status(t, 201)) {
			t.Error("the response is not replayed just before a day has passed")
		}
		e.Clock.Set(start.Add(idempotency.Retention))
		if replayed(send(t, e, op, q).Status(t, 201)) {
			t.Error("the response is replayed after a day")
		}
		if n := countRows(t, e, "patients") - patients; n != 2 {
			t.Errorf("%d patients were created", n)
		}
		e.Clock.Set(start.Add(2*idempotency.Retention - time.Millisecond))
		prune(0)
		e.Clock.Set(start.Add(2 * idempotency.Retention))
		prune(1)
		if n := countRows(t, e, "idempotency_keys"); n != 0 {
			t.Errorf("%d keys are left", n)
		}
	})
}

func TestRevokedTokensGetNoReplay(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		q := withKey(w.request(find(t, "updateFee"), 0), "a")
		q.Token = token
		e.Do(t, q).Status(t, 200)
		execute(t, e, "UPDATE access_tokens SET scopes = 'patient' WHERE name = $1", t.Name())
		deadline := time.Now().Add(20 * time.Second) // a change by hand takes effect within a second
		for e.Do(t, q).Code == 200 && time.Now().Before(deadline) {
		}
		e.Do(t, q).Error(t, 403, "insufficient_scope")
		execute(t, e, "UPDATE access_tokens SET revoked_at = created_at WHERE name = $1", t.Name())
		for e.Do(t, q).Code == 403 && time.Now().Before(deadline) {
		}
		e.Do(t, q).Error(t, 401, "invalid_token")
	})
}

// TestStoredResponsesAreSealed searches the table for the patient and the key.
func TestStoredResponsesAreSealed(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		q := withKey(w.request(find(t, "createPatient"), 0), "Quentin-Quill")
		q.Token = token
		q.Body.(map[string]any)["patient"].(map[string]any)["last_name"] = "Quill"
		e.Do(t, q).Status(t, 201)
		rows, err := e.DB.SQL.QueryContext(t.Context(), "SELECT key_hash, request_hash, response FROM idempotency_keys")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var columns [3][]byte
			if err := rows.Scan(&columns[0], &columns[1], &columns[2]); err != nil {
				t.Fatal(err)
			}
			if all := bytes.Join(columns[:], nil); bytes.Contains(all, []byte("Quill")) || len(all) < 500 {
				t.Errorf("stored: %q", all)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestParallelRequestsWithOneKeyWriteOnce sends 1,000 posts with one key to three servers.
func TestParallelRequestsWithOneKeyWriteOnce(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			servers := []*harness.Env{harness.Start(t, where, harness.Patient), harness.Start(t, where, harness.Patient), harness.Start(t, where, harness.Patient)}
			e := servers[0]
			q := withKey(loadWorld(t, e, "demo").request(find(t, "createPatient"), 0), "thousand")
			q.Token = e.Token(t, "")
			patients, changes, keys := countRows(t, e, "patients"), countRows(t, e, "audit_events"), countRows(t, e, "idempotency_keys")
			var mu sync.Mutex
			seen, bodies := map[string]int{}, map[string]bool{}
			var all sync.WaitGroup
			for client := range 100 {
				all.Go(func() {
					for n := range 10 {
						r := servers[(client+n)%len(servers)].Do(t, q)
						mu.Lock()
						seen[fmt.Sprint(r.Code, " ", replayed(r))]++
						if r.Code == 201 {
							bodies[string(r.Raw)] = true
						} else if r.Code == 503 { // the machine is too slow for all of them
							r.Error(t, 503, "unavailable")
						} else {
							r.Error(t, 409, "idempotency_in_progress")
						}
						mu.Unlock()
					}
				})
			}
			all.Wait()
			// Nothing is in progress any more, so replays that run at the same time do not refuse each other.
			for client := range 40 {
				all.Go(func() {
					if r := servers[client%len(servers)].Do(t, q); r.Code != 201 || !replayed(r) {
						r.Error(t, 503, "unavailable")
					}
				})
			}
			all.Wait()
			if seen["201 false"] != 1 || len(bodies) != 1 || seen["201 true"] == 0 {
				t.Errorf("responses: %v, %d different bodies", seen, len(bodies))
			}
			if n := countRows(t, e, "patients") - patients; n != 1 {
				t.Errorf("%d patients were created", n)
			}
			if n := countRows(t, e, "audit_events") - changes; n != 3 { // with the account and an answer
				t.Errorf("%d changes were audited", n)
			}
			if n := countRows(t, e, "idempotency_keys") - keys; n != 1 {
				t.Errorf("%d keys were stored", n)
			}
		})
	}
}

// TestLostResponseIsReplayedByAnotherServer: the first server ends between the commit and the
// response.
func TestLostResponseIsReplayedByAnotherServer(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			lost, next := harness.Start(t, where, harness.Patient), harness.Start(t, where, harness.Patient)
			w, token := loadWorld(t, next, "demo"), next.Token(t, "")
			for _, op := range operations() {
				if !op.writes() {
					continue
				}
				q := withKey(w.request(op, 0), uuid.NewString())
				q.Token = token
				body, err := json.Marshal(q.Body)
				if err != nil {
					t.Fatal(err)
				}
				r := httptest.NewRequest(q.Method, q.Path, bytes.NewReader(body))
				for name, value := range map[string]string{"Authorization": "Bearer " + token, "User-Agent": harness.UserAgent, "Content-Type": "application/json", "Idempotency-Key": q.Header["Idempotency-Key"]} {
					r.Header.Set(name, value)
				}
				recorder := httptest.NewRecorder() // what the client never receives
				lost.Server.Handler().ServeHTTP(recorder, r)
				before := dump(t, next, w.practice)
				if got := next.Do(t, q).Status(t, op.Success); !replayed(got) || string(got.Raw) != recorder.Body.String() {
					t.Errorf("%s: %v\n%s\n%s", op, replayed(got), got.Raw, recorder.Body)
				}
				compare(t, before, dump(t, next, w.practice))
			}
		})
	}
}

// TestKeyedBookingSurvivesACutConnection cuts the connection to the database after more and
// more bytes of a booking and sends it again, as a client does. It is booked once.
func TestKeyedBookingSurvivesACutConnection(t *testing.T) {
	t.Parallel()
	eachConnection(t, func(t *testing.T, e *harness.Env, proxy *pgproxy.Proxy, token string) {
		w, day := loadWorld(t, e, "demo"), 0
		for _, d := range []pgproxy.Direction{pgproxy.ToServer, pgproxy.FromServer} {
			for n, whole := 0, 0; whole < 3; n += 5 * cutStride {
				day++
				start := time.Date(2027, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, day)
				q := withKey(w.request(find(t, "createAppointment"), 0), uuid.NewString())
				q.Token = token
				appointment := q.Body.(map[string]any)["appointment"].(map[string]any)
				appointment["start_time"], appointment["finish_time"] = start.Format(time.RFC3339), start.Add(time.Hour).Format(time.RFC3339)
				appointments, keys := countRows(t, e, "appointments"), countRows(t, e, "idempotency_keys")
				proxy.Cut(d, n)
				r := e.Do(t, q)
				proxy.Reset()
				if whole++; r.Code != http.StatusCreated {
					r.Error(t, 503, "unavailable")
					whole = 0
				}
				again := e.Do(t, q)
				for deadline := time.Now().Add(recoveryLimit); again.Code != http.StatusCreated && time.Now().Before(deadline); again = e.Do(t, q) {
				}
				again.Status(t, http.StatusCreated)
				if added, stored := countRows(t, e, "appointments")-appointments, countRows(t, e, "idempotency_keys")-keys; added != 1 || stored != 1 {
					t.Fatalf("cut after %d bytes, direction %d: answered %d, then %d: %d appointments, %d keys", n, d, r.Code, again.Code, added, stored)
				}
			}
		}
	})
}

// TestKeysOfADisabledUser are as good as those of a revoked token.
func TestKeysOfADisabledUser(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		q := withKey(w.request(find(t, "updateFee"), 0), "a")
		q.Token = token
		e.Do(t, q).Status(t, 200)
		execute(t, e, "UPDATE users SET active = false WHERE email = '"+seed.DemoAdmin+"'")
		for deadline := time.Now().Add(20 * time.Second); e.Do(t, q).Code == 200 && time.Now().Before(deadline); {
		}
		e.Do(t, q).Error(t, 403, "account_disabled")
	})
}
