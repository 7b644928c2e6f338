package contract

import (
	"net/http"
	"strings"
	"testing"

	"entgo.io/ent/dialect"

	"chairside/internal/codec"
	"chairside/internal/test/harness"
)

// Values that only these tests' patients and requests contain. The misspelling keeps
// ordinary text from matching.
const (
	canary      = "qanary"
	canaryPhone = "07700900987"
)

// canaries are the values that must not appear, in lower case.
var canaries = []string{canary, canaryPhone, "7700900987", "cs_pat_", "access_token", "bearer"}

// canaryBody returns a valid body with a canary as every text.
func canaryBody(w *world, op operation) map[string]any {
	body := w.body(op.Body)
	members := body[op.Body.Key].(map[string]any)
	for _, f := range op.Body.Fields {
		switch {
		case f.Name == "reason":
		case strings.HasSuffix(f.Name, "_phone"):
			members[f.Name] = canaryPhone
		case f.Kind == codec.Text:
			members[f.Name] = canary + " " + f.Name
		case f.Kind == codec.Email:
			members[f.Name] = canary + "@" + canary + ".example"
		case f.Kind == codec.Metadata:
			members[f.Name] = map[string]string{canary: canary}
		}
	}
	return body
}

// provokeErrors sends requests of every kind with canaries everywhere, and returns all
// error bodies.
func provokeErrors(t *testing.T, e *harness.Env, w *world, token string) (errors []string) {
	t.Helper()
	try := func(q harness.Request) {
		if r := e.Do(t, q); r.Code >= 400 {
			errors = append(errors, q.Method+" "+q.Path+" → "+string(r.Raw))
		}
	}
	for _, op := range operations() {
		good := w.request(op, 0)
		good.Token = token
		if op.Body != nil {
			good.Body = canaryBody(w, op)
		}
		if op.Method != http.MethodDelete {
			try(good)
		}
		for _, header := range []string{"Content-Type", "Accept", "Prefer", "If-Match", "If-None-Match", "Authorization", "Cookie", "Origin", "Referer", "X-Forwarded-For", "Traceparent", "Tracestate", "Baggage"} {
			q := good
			q.Header = map[string]string{header: canary + "/" + canary}
			if op.Method != http.MethodDelete || header == "If-Match" || header == "Authorization" {
				try(q)
			}
		}
		if op.one() {
			q := good
			q.Path = op.path(canary)
			try(q)
		}
		separator := "?"
		if strings.Contains(good.Path, "?") {
			separator = "&"
		}
		for _, p := range op.Params {
			q := good
			q.Path += separator + p.Name + "=" + canary
			try(q)
			q.Path += "&" + p.Name + "=" + canaryPhone + "%00&access_token=" + token
			try(q)
		}
		if op.Body == nil {
			continue
		}
		q := good
		if op.ID == "createPatient" { // no operation sees a body that is too large
			q.Body = strings.Repeat(canary, 200_000)
			try(q)
		}
		for _, q.Body = range []any{
			`{"` + op.Body.Key + `": {"` + canary, `"` + canary + `"`, canary, `{"` + canary + `": 1}`, `{"` + op.Body.Key + `": "` + canary + `"}`,
			"{\"" + op.Body.Key + "\": {\"" + canary + "\": \"\xff\"}}",
		} {
			try(q)
		}
		for _, f := range op.Body.Fields {
			for _, value := range []any{canary, canary + "\x00", strings.Repeat(canary, 2_000), map[string]any{canary: []string{canary}}, []any{canary}, canaryPhone + canaryPhone + canaryPhone} {
				body := canaryBody(w, op)
				body[op.Body.Key].(map[string]any)[f.Name] = value
				q.Body = body
				try(q)
			}
		}
	}
	for _, q := range []harness.Request{
		{Method: "QANARY", Path: "/v1/patients"}, {Method: http.MethodGet, Path: "/" + canary}, {Method: http.MethodGet, Path: "/v1/" + canary + "/1"},
		{Method: http.MethodGet, Path: "/healthz?" + canary + "=" + canary}, {Method: http.MethodGet, Path: "/docs/" + canary}, {Method: http.MethodGet, Path: "/metrics?q=" + canary},
		{Method: http.MethodGet, Path: "/v1/patients?query=" + canary + "&access_token=" + token},
		{Method: http.MethodGet, Path: "/v1/patients?query=" + canaryPhone, Token: token},
		{Method: http.MethodGet, Path: "/v1/patients?query=%zz" + canary, Token: token},
		{Method: http.MethodGet, Path: "/v1/patients?access_token=cs_pat_" + canary},
		{Method: http.MethodGet, Path: "/v1/patients", Token: "cs_pat_" + canary},
	} {
		try(q)
	}
	return errors
}

// checkNoCanary fails the test if a canary appears.
func checkNoCanary(t *testing.T, where, text string) {
	t.Helper()
	lower := strings.ToLower(text)
	for _, c := range canaries {
		if i := strings.Index(lower, c); i >= 0 {
			t.Errorf("%s shows %q: …%s…", where, c, text[max(0, i-300):min(len(text), i+200)])
		}
	}
}

// TestNoPrivateDataInLogsErrorsMetricsAndTraces of a healthy server, with a database that
// refuses queries, and without a database. Every request is traced, and logged as a slow one.
func TestNoPrivateDataInLogsErrorsMetricsAndTraces(t *testing.T) {
	eachTraced(t, func(t *testing.T, e *harness.Env, spans *collector) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		var errors []string
		errors = append(errors, provokeErrors(t, e, w, token)...)

		execute(t, e, "ALTER TABLE accounts RENAME TO accounts_away")
		errors = append(errors, provokeErrors(t, e, w, token)...)
		execute(t, e, "ALTER TABLE accounts_away RENAME TO accounts")

		e.Settle()
		metrics := e.Get(t, "/metrics", "").Status(t, http.StatusOK)
		checkNoCanary(t, "/metrics", string(metrics.Raw))

		if err := e.DB.Close(); err != nil {
			t.Fatal(err)
		}
		errors = append(errors, provokeErrors(t, e, w, token)...)
		e.Get(t, "/readyz", "").Status(t, http.StatusServiceUnavailable)

		if len(errors) < 1000 {
			t.Errorf("only %d errors were provoked", len(errors))
		}
		for _, text := range errors {
			request, body, _ := strings.Cut(text, " → ")
			checkNoCanary(t, "the error of "+request[:min(len(request), 120)], body)
		}
		e.Settle()
		checkNoCanary(t, "the log", withoutTableOfTokens(e.Log.String()))
		checkNoCanary(t, "the traces", spans.text())
		if n := len(spans.all()); n < 1000 {
			t.Errorf("only %d spans were exported", n)
		}
	})
}

// TestDatabaseErrorsDoNotLeakValues of a refused row, from a constraint or a message
// that repeats them.
func TestDatabaseErrorsDoNotLeakValues(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w, token := loadWorld(t, e, "demo"), e.Token(t, "")
		op := find(t, "createPatient")
		q := w.request(op, 0)
		q.Token, q.Body = token, canaryBody(w, op)
		send(t, e, op, q).Status(t, http.StatusCreated)
		fail := func() {
			t.Helper()
			r := e.Do(t, q)
			check(t, op, q, r)
			r.Error(t, http.StatusInternalServerError, "internal")
			checkNoCanary(t, "the error", string(r.Raw))
			if about := lines(t, e, r.Header.Get("X-Request-Id")); len(about) < 2 {
				t.Errorf("the failure is not in the log: %v", about)
			}
		}
		execute(t, e, "CREATE UNIQUE INDEX no_namesakes ON patients (practice_id, last_name, postcode, date_of_birth)")
		fail()
		for _, statement := range leakyStatements[e.DB.Dialect] {
			execute(t, e, statement)
		}
		fail()
		checkNoCanary(t, "the log", e.Log.String())
	})
}

// leakyStatements makes the database refuse every patient with a message that names the
// patient.
var leakyStatements = map[string][]string{
	dialect.SQLite: {
		"DROP INDEX no_namesakes",
		"CREATE TRIGGER refuse BEFORE INSERT ON patients BEGIN SELECT RAISE(ABORT, 'no ' || NEW.last_name || ' ' || NEW.mobile_phone); END",
	},
	dialect.Postgres: {
		"DROP INDEX no_namesakes",
		"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no % %', NEW.last_name, NEW.mobile_phone USING DETAIL = NEW.email_address, HINT = NEW.town; END $$",
		"CREATE TRIGGER refuse BEFORE INSERT ON patients FOR EACH ROW EXECUTE FUNCTION refuse()",
	},
}
