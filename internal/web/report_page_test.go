package web_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestReportStreamsProgress: the page of a report in steps starts before the report is
// finished, and ends as the complete page.
func TestReportStreamsProgress(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		p := b.Get("/reports/income").Status(t, http.StatusOK).Has(t, "Income", "step 2 of 3")
		checkHeaders(t, p, policy)
		checkPage(t, p)
		if p.Header.Get("Content-Length") != "" {
			t.Error("the page was not sent in parts")
		}
		bars := p.All(func(n *html.Node) bool { return n.DataAtom == atom.Progress })
		if len(bars) != 3 {
			t.Fatalf("%d bars, want one for each step", len(bars))
		}
		for i, bar := range bars {
			if got := harness.Attr(bar, "value") + "/" + harness.Attr(bar, "max"); got != []string{"0/3", "1/3", "2/3"}[i] {
				t.Errorf("bar %d shows %s", i, got)
			}
		}
		if n := len(p.All(func(n *html.Node) bool {
			return n.DataAtom == atom.Form && harness.Attr(n, "action") == "/reports/income"
		})); n != 1 {
			t.Errorf("the form appears %d times on the page", n)
		}
		if strings.Contains(string(p.Raw), "<!--") {
			t.Error("the page contains the split marker")
		}
		b.Get("/reports/income?site="+unusedID[1:]).Status(t, http.StatusUnprocessableEntity)
	})
}

// TestReportFailsAfterStreamingStarts: a started page ends with the error, without details.
func TestReportFailsAfterStreamingStarts(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		b := e.Browser(t).SignIn(seed.DemoAdmin)
		rename := func(from, to string) {
			if _, err := e.DB.SQL.ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("payments", "mislaid") // invoices can still be read
		p := b.Get("/reports/income").Status(t, http.StatusOK).
			Has(t, "Income", "Something went wrong", "quote request ID").Lacks(t, "mislaid", "payments\"", "Download")
		checkHeaders(t, p, policy)
		checkPage(t, p)
		e.Settle()
		for line := range strings.Lines(e.Log.String()) {
			if strings.Contains(line, p.Header.Get("X-Request-Id")) && strings.Contains(line, `"msg":"request"`) && !strings.Contains(line, `"status":500`) {
				t.Errorf("the log shows a success: %s", line)
			}
		}
		rename("mislaid", "payments")
		b.Get("/reports/income").Status(t, http.StatusOK).Has(t, "Download").Lacks(t, "went wrong")
	})
}

// TestReportStreamsBeforeItIsFinished: finished steps reach the visitor while the next
// step waits for a locked table.
func TestReportStreamsBeforeItIsFinished(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.Postgres(t))
	b := e.Browser(t).SignIn(seed.DemoAdmin)
	tx, err := e.DB.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE payments IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL+"/reports/income", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "seen early")
	for _, c := range b.Cookies() {
		r.AddCookie(c)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `<progress value="1" max="3">`) {
	}
	if lines.Err() != nil || lines.Text() == "" {
		t.Fatalf("no progress bar: %v", lines.Err())
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() && !strings.Contains(lines.Text(), "Download") {
	}
	if lines.Err() != nil || lines.Text() == "" {
		t.Fatalf("no report after the progress bar: %v", lines.Err())
	}
}
