package server

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chairside/internal/guides"
)

const monitoring = "../../cmd/chairside/deploy/monitoring/"

// TestAlertsAndDashboardUseExistingMetrics: each metric, and each background job, that an alert rule,
// the dashboard or the guide names exists, and each alert has its section in the guide.
func TestAlertsAndDashboardUseExistingMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, j := range b.jobs.all {
		j.ran(nil)
	}
	if err := b.backlog.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.get("/patients").ok(t, http.StatusOK)
	have := map[string]bool{
		// An embedded database has no replicas, and only refused requests have these.
		"chairside_database_replica_lag_seconds": true,
		"chairside_replica_up":                   true, "chairside_replica_behind_seconds": true, "chairside_replica_reads_total": true,
		"chairside_replica_reads_failed_total": true, "chairside_replica_reads_on_primary_total": true,
		"chairside_database_waiting": true, "chairside_database_places_in_use": true,
		"chairside_database_refused_total": true, "chairside_database_waited_total": true,
	}
	for line := range strings.Lines(b.get("/metrics", "User-Agent:", "Authorization:").ok(t, http.StatusOK).body) {
		if name := regexp.MustCompile(`^[a-z_]+`).FindString(line); name != "" {
			have[name] = true
			have[strings.TrimSuffix(name, "_bucket")] = true
		}
	}
	i := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == "monitoring" })
	guide := guides.All()[i]
	files := map[string]string{"the guide": guide.Source}
	for _, name := range []string{"alerts.yml", "dashboard.json"} {
		text, err := os.ReadFile(monitoring + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	names := map[string]bool{}
	for _, j := range b.jobs.all {
		if names[j.id] {
			t.Errorf("two jobs are called %s", j.id)
		}
		names[j.id] = true
		if !strings.Contains(guide.Source, "`"+j.id+"`") && !strings.HasPrefix(j.id, "delete_") {
			t.Errorf("the guide does not say what happens while %s fails", j.id)
		}
	}
	for file, text := range files {
		for _, name := range regexp.MustCompile(`\b(chairside|go_sql|process)_[a-z_]+[a-z]\b`).FindAllString(text, -1) {
			if !have[name] && name != "go_sql" {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
		for _, m := range regexp.MustCompile(`job_name=\\?"([a-z_]+)\\?"`).FindAllStringSubmatch(text, -1) {
			if !names[m[1]] {
				t.Errorf("%s: there is no job %s", file, m[1])
			}
		}
	}
	alerts := regexp.MustCompile(`(?m)- alert: (\w+)`).FindAllStringSubmatch(files["alerts.yml"], -1)
	if len(alerts) < 10 {
		t.Fatalf("%d alerts", len(alerts))
	}
	for _, m := range alerts {
		if !strings.Contains(guide.HTML, `<h2 id="`+strings.ToLower(m[1])+`"`) {
			t.Errorf("%s has no section in the guide", m[1])
		}
		if !strings.Contains(files["alerts.yml"], "runbook: /docs/guides/monitoring#"+strings.ToLower(m[1])+"\n") {
			t.Errorf("%s has no link to its section", m[1])
		}
	}
}

// TestBacklogHasNoOldValues: a measurement that fails leaves no series of the one before.
func TestBacklogHasNoOldValues(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shown := func() bool {
		return strings.Contains(b.get("/metrics", "User-Agent:", "Authorization:").ok(t, http.StatusOK).body, "chairside_backlog_age_seconds{")
	}
	if err := b.backlog.measure(t.Context()); err != nil || !shown() {
		t.Fatalf("no series after a measurement: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := b.backlog.measure(ended); err == nil || shown() {
		t.Errorf("series after a measurement that failed with: %v", err)
	}
}
