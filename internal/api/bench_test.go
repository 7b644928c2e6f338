package api_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chairside/internal/server"
	"chairside/internal/test/harness"
)

// BenchmarkReads measures processor time and memory of read requests, without the network.
//
//	go test ./internal/api/ -run ^$ -bench Reads -cpuprofile cpu.out
func BenchmarkReads(b *testing.B) {
	for _, db := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", harness.SQLite}, {"postgres", harness.Postgres}} {
		b.Run(db.name, func(b *testing.B) {
			e := harness.Start(b, db.url(b), func(o *server.Options) { o.Logger = slog.New(slog.NewJSONHandler(io.Discard, nil)) })
			token := e.Token(b, "")
			one := func(table string) string {
				return "/v1/" + table + "/" + e.Get(b, "/v1/"+table, token).Column(b, table, "id")[0]
			}
			for name, path := range map[string]string{
				"50 patients": "/v1/patients?per_page=50", "patient": one("patients"),
				"25 appointments": "/v1/appointments?per_page=25", "appointment": one("appointments"),
			} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						r := httptest.NewRequest(http.MethodGet, path, nil)
						r.Header.Set("Authorization", "Bearer "+token)
						r.Header.Set("User-Agent", "Bench (bench@example.com)")
						w := &discard{header: http.Header{}}
						e.Server.Handler().ServeHTTP(w, r)
						if w.status != http.StatusOK {
							b.Fatal(path, w.status)
						}
					}
				})
			}
		})
	}
}

// BenchmarkBook books one appointment after another, each 30 minutes after the one before,
// starting in a year.
//
//	go test ./internal/api/ -run ^$ -bench Book -benchtime 500x
func BenchmarkBook(b *testing.B) {
	for _, db := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", harness.SQLite}, {"postgres", harness.Postgres}} {
		b.Run(db.name, func(b *testing.B) {
			e := harness.Start(b, db.url(b), func(o *server.Options) {
				o.Logger = slog.New(slog.NewJSONHandler(io.Discard, nil))
				o.RateLimit = 0
			})
			token := e.Token(b, "")
			id := e.Get(b, "/v1/practitioners", token).Column(b, "practitioners", "id")[0]
			start := time.Now().UTC().Truncate(time.Hour).AddDate(1, 0, 0)
			for b.Loop() {
				end := start.Add(30 * time.Minute)
				body := fmt.Sprintf(`{"appointment": {"practitioner_id": %s, "reason": "Exam", "start_time": %q, "finish_time": %q}}`,
					id, start.Format(time.RFC3339), end.Format(time.RFC3339))
				r := httptest.NewRequest(http.MethodPost, "/v1/appointments", strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("User-Agent", "Bench (bench@example.com)")
				r.Header.Set("Content-Type", "application/json")
				w := &discard{header: http.Header{}}
				e.Server.Handler().ServeHTTP(w, r)
				if w.status != http.StatusCreated {
					b.Fatal(w.status)
				}
				start = end
			}
		})
	}
}

// discard is a response writer that keeps only the status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
