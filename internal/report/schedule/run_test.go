package schedule_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/report/schedule"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
)

func TestMain(m *testing.M) { harness.Main(m) }

// due is the first time of the schedules that add makes: Wednesday, 10:30 in London.
var due = time.Date(2026, 7, 1, 9, 30, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

// incomeFile is the file of last week's income, seen from due.
const incomeFile = "demo-income-2026-06-22-to-2026-06-28.csv"

// add makes a schedule of the main practice's administrator for last week's income, on Wednesdays at 10:30, with a
// folder or an address.
func add(t testing.TB, e *harness.Env, folder, address, format string) {
	t.Helper()
	_, err := e.Owner().ExecContext(t.Context(), `INSERT INTO report_schedules (practice_id, user_id, report, weekday, minute, period, format, folder, address, created_at, due_at, attempt_at, leased_until)
		SELECT practice_id, id, 'income', 3, 630, 'last-week', $1, $2, $3, $4, $5, $5, $4 FROM users WHERE email = $6`,
		format, folder, address, harness.Now, due, seed.DemoAdmin)
	if err != nil {
		t.Fatal(err)
	}
}

// runner is a server process.
func runner(e *harness.Env, db *store.DB, mail *schedule.Mail) *schedule.Runner {
	logger := slog.New(slog.NewJSONHandler(e.Log, nil))
	return schedule.New(schedule.Options{DB: db, Trail: trail.New(db, logger), Mail: mail, Logger: logger})
}

// reading returns a context that reads the server's clock.
func reading(t testing.TB, e *harness.Env) context.Context {
	return clock.Clock(e.Clock.Now).With(t.Context())
}

// run makes one turn at a time.
func run(t testing.TB, e *harness.Env, r *schedule.Runner, at time.Time) {
	t.Helper()
	e.Clock.Set(at)
	if err := r.RunDue(reading(t, e)); err != nil {
		t.Fatal(err)
	}
}

// files returns the names of the files in a directory, temporary ones too.
func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// noted returns the number of runs that the audit log has.
func noted(t testing.TB, e *harness.Env) int {
	t.Helper()
	return storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events AS a JOIN users AS u ON u.id = a.user_id WHERE a.action = 'report' AND a.record_id = 'income' AND a.operation = 'runReportSchedule' AND u.email = $1", seed.DemoAdmin)
}

// state returns a column of the only schedule.
func state(t testing.TB, e *harness.Env, column string) string {
	t.Helper()
	return storetest.Value(t, e.DB.SQL, "SELECT COALESCE(CAST("+column+" AS text), '') FROM report_schedules")
}

func TestReportsAreStored(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := t.TempDir()
		add(t, e, dir, "", "csv")
		r := runner(e, e.DB, nil)
		run(t, e, r, due.Add(-time.Second))
		if got := files(t, dir); len(got) > 0 {
			t.Fatalf("before its time: %v", got)
		}
		for range 2 { // once
			run(t, e, r, due)
		}
		if got := files(t, dir); !slices.Equal(got, []string{incomeFile}) {
			t.Fatalf("stored %v", got)
		}
		content, err := os.ReadFile(filepath.Join(dir, incomeFile))
		if err != nil {
			t.Fatal(err)
		}
		page := e.Browser(t).SignIn(seed.DemoAdmin).Get("/reports/income.csv?from=2026-06-22&to=2026-06-28")
		if page.Status(t, http.StatusOK); string(content) != string(page.Raw) {
			t.Errorf("stored\n%s\nand the page has\n%s", content, page.Raw)
		}
		info, err := os.Stat(filepath.Join(dir, incomeFile))
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("its mode is %v, %v", info.Mode(), err)
		}
		if n := noted(t, e); n != 1 {
			t.Errorf("the audit log has %d runs", n)
		}
		run(t, e, r, due.Add(week))
		if got := files(t, dir); !slices.Equal(got, []string{incomeFile, "demo-income-2026-06-29-to-2026-07-05.csv"}) {
			t.Errorf("after a week: %v", got)
		}
		if strings.Contains(e.Log.String(), dir) || strings.Contains(e.Log.String(), seed.DemoAdmin) {
			t.Errorf("the log has names: %s", e.Log)
		}
	})
}

// TestSchedulesDueAtOnceAllRun: more than a process runs at a time.
func TestSchedulesDueAtOnceAllRun(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dirs := make([]string, 5)
		for i := range dirs {
			dirs[i] = t.TempDir()
			add(t, e, dirs[i], "", "csv")
		}
		run(t, e, runner(e, e.DB, nil), due)
		for _, dir := range dirs {
			if got := files(t, dir); !slices.Equal(got, []string{incomeFile}) {
				t.Errorf("stored %v", got)
			}
		}
		if n := noted(t, e); n != len(dirs) {
			t.Errorf("the audit log has %d runs", n)
		}
	})
}

func TestMissedRunsAreMadeUpOnce(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := t.TempDir()
		add(t, e, dir, "", "csv")
		r := runner(e, e.DB, nil)
		for range 2 {
			run(t, e, r, due.Add(3*week+time.Hour))
		}
		if got := files(t, dir); !slices.Equal(got, []string{"demo-income-2026-07-13-to-2026-07-19.csv"}) {
			t.Errorf("stored %v", got)
		}
		if n := noted(t, e); n != 1 {
			t.Errorf("the audit log has %d runs", n)
		}
		run(t, e, r, due.Add(4*week))
		if n := noted(t, e); n != 2 {
			t.Errorf("at the next time, the audit log has %d runs", n)
		}
	})
}

// TestServersShareSchedules: processes with connections of their own run each schedule once.
func TestServersShareSchedules(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := database(t)
			e := harness.Start(t, url, harness.Patient)
			const schedules, servers = 6, 3
			var dirs []string
			for range schedules {
				dirs = append(dirs, t.TempDir())
				add(t, e, dirs[len(dirs)-1], "", "csv")
			}
			e.Clock.Set(due)
			var turns sync.WaitGroup
			for range servers {
				db := storetest.Open(t, url)
				db.Keys = testkeys.Keys()
				r := runner(e, db, nil)
				turns.Go(func() {
					if err := r.RunDue(reading(t, e)); err != nil {
						t.Error(err)
					}
				})
			}
			turns.Wait()
			if n := noted(t, e); n != schedules {
				t.Errorf("%d runs of %d schedules", n, schedules)
			}
			for _, dir := range dirs {
				if got := files(t, dir); len(got) != 1 {
					t.Errorf("stored %v", got)
				}
			}
		})
	}
}

// TestKilledRunsAreRepeated: a process dies after it has stored the file and before it says so.
func TestKilledRunsAreRepeated(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := t.TempDir()
		add(t, e, dir, "", "csv")
		killed, r := runner(e, e.DB, nil), runner(e, e.DB, nil)
		killed.Between(runtime.Goexit)
		run(t, e, killed, due)
		before, err := os.Stat(filepath.Join(dir, incomeFile))
		if err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(dir, ".chairside-report-"+state(t, e, "practice_id")+"-"+state(t, e, "id")+"-1") // of another kill, while it wrote
		if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, e, r, due.Add(time.Minute))
		if n := noted(t, e); n != 1 {
			t.Errorf("%d runs while the lease lasts", n)
		}
		storetest.Exec(t, e.DB, "UPDATE report_schedules SET leased_until = created_at")
		for range 2 {
			run(t, e, r, due.Add(2*time.Minute))
		}
		if got := files(t, dir); !slices.Equal(got, []string{incomeFile}) {
			t.Errorf("stored %v", got)
		}
		after, err := os.Stat(filepath.Join(dir, incomeFile))
		if err != nil || os.SameFile(before, after) || before.Size() != after.Size() {
			t.Errorf("the file is not replaced: %v", err)
		}
		if n := noted(t, e); n != 2 {
			t.Errorf("the audit log has %d runs", n)
		}
	})
}

// TestLostLeasesRecordNothing: a process that took too long does not overwrite what another one has recorded.
func TestLostLeasesRecordNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := filepath.Join(t.TempDir(), "missing")
		add(t, e, dir, "", "csv")
		slow, fast := runner(e, e.DB, nil), runner(e, e.DB, nil)
		slow.Between(func() { // its attempt has failed
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Error(err)
			}
			storetest.Exec(t, e.DB, "UPDATE report_schedules SET leased_until = created_at")
			if err := fast.RunDue(reading(t, e)); err != nil {
				t.Error(err)
			}
		})
		run(t, e, slow, due)
		if got := state(t, e, "failure"); got != "" {
			t.Errorf("the slow one recorded %q", got)
		}
		if got := files(t, dir); !slices.Equal(got, []string{incomeFile}) || noted(t, e) != 1 {
			t.Errorf("stored %v", got)
		}
	})
}

// TestFailuresAreTriedAgain with back-off, and are on the status page.
func TestFailuresAreTriedAgain(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := filepath.Join(t.TempDir(), "Lovelace")
		add(t, e, dir, "", "csv")
		r := runner(e, e.DB, nil)
		const reason = "the directory does not exist: create it, or mount its disk"
		for range 2 {
			run(t, e, r, due)
		}
		if state(t, e, "failures") != "1" || state(t, e, "failure") != reason || noted(t, e) != 0 {
			t.Errorf("%s failures: %s", state(t, e, "failures"), state(t, e, "failure"))
		}
		if err := r.Failing(reading(t, e)); err == nil {
			t.Error("the job does not fail")
		}
		e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/status").Has(t, "Schedule "+state(t, e, "id")+" (income) fails: "+reason)
		e.Browser(t).SignIn(seed.SecondAdmin).Get("/settings/status").Lacks(t, reason)
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, e, r, due.Add(schedule.BackOff-time.Millisecond))
		if got := state(t, e, "failures"); got != "1" {
			t.Errorf("%s failures before the pause is over", got)
		}
		run(t, e, r, due.Add(schedule.BackOff))
		if got := state(t, e, "failure"); got != "the directory cannot be written: not a directory" {
			t.Error(got)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		later := due.Add(time.Hour)
		if os.Geteuid() != 0 { // no directory is closed to root
			run(t, e, r, later)
			if got := state(t, e, "failure"); got != "the directory cannot be written: permission denied" {
				t.Error(got)
			}
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		later = later.Add(time.Hour)
		run(t, e, r, later)
		if got := files(t, dir); !slices.Equal(got, []string{incomeFile}) {
			t.Errorf("stored %v", got)
		}
		if state(t, e, "failures") != "0" || state(t, e, "failing_since") != "" || state(t, e, "failure") != "" {
			t.Error("it still fails")
		}
		if err := r.Failing(reading(t, e)); err != nil {
			t.Error(err)
		}
		if strings.Contains(e.Log.String(), "Lovelace") {
			t.Errorf("the log has the path: %s", e.Log)
		}
	})
}

// TestSchedulesStopWithTheirUser: a schedule shows what its user may see at the run, and says why it stopped.
func TestSchedulesStopWithTheirUser(t *testing.T) {
	for change, reason := range map[string]string{
		"active = false":        "its user is disabled",
		"role = 'receptionist'": "its user may no longer see the report",
	} {
		t.Run(change, func(t *testing.T) {
			harness.Each(t, func(t *testing.T, e *harness.Env) {
				dir := t.TempDir()
				add(t, e, dir, "", "csv")
				// A manager's, because the status page needs an administrator.
				storetest.Exec(t, e.DB, "UPDATE report_schedules SET user_id = (SELECT min(id) FROM users WHERE role = 'manager' AND practice_id = report_schedules.practice_id)")
				storetest.Exec(t, e.DB, "UPDATE users SET "+change+" WHERE id = (SELECT user_id FROM report_schedules)")
				r := runner(e, e.DB, nil)
				run(t, e, r, due)
				if got := state(t, e, "stopped_reason"); got != reason {
					t.Errorf("stopped because %q", got)
				}
				e.Browser(t).SignIn(seed.DemoAdmin).Get("/settings/status").Has(t, "(income) is stopped: "+reason)
				storetest.Exec(t, e.DB, "UPDATE users SET active = true, role = 'manager' WHERE id = (SELECT user_id FROM report_schedules)")
				run(t, e, r, due.Add(week))
				if got := files(t, dir); len(got) > 0 || storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE operation = 'runReportSchedule' AND action <> 'update'") > 0 {
					t.Errorf("a stopped schedule stored %v", got)
				}
				if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE operation = 'runReportSchedule' AND action = 'update' AND resource = 'ReportSchedule' AND CAST(details AS text) LIKE '%"+reason+"%'"); n != 1 {
					t.Errorf("the audit log has %d entries of the stop, want 1", n)
				}
				if err := r.Failing(reading(t, e)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestClosedPracticesRunNothing: a closed practice sends no reports.
func TestClosedPracticesRunNothing(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := t.TempDir()
		add(t, e, dir, "", "csv")
		storetest.Exec(t, e.DB, "UPDATE practices SET closes_at = $1", due)
		run(t, e, runner(e, e.DB, nil), due)
		if got := files(t, dir); len(got) > 0 {
			t.Errorf("stored %v", got)
		}
	})
}

// TestSchedulesOfClosedPracticesAreNotLate: nothing waits for them, and they do not run.
func TestSchedulesOfClosedPracticesAreNotLate(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		add(t, e, t.TempDir(), "", "csv")
		e.Clock.Set(due.Add(time.Hour))
		ctx, ours := reading(t, e), clock.Clock(e.Clock.Now).With(e.As(t, "demo"))
		troubles := func() (overdue time.Time, text, state string, next *time.Time, failing error) {
			t.Helper()
			row, err := e.DB.Ent.ReportSchedule.Query().WithPractice().Only(ours)
			if err != nil {
				t.Fatal(err)
			}
			if overdue, err = schedule.Overdue(ctx, e.DB); err != nil {
				t.Fatal(err)
			}
			if text, _, err = schedule.Troubles(ours, e.DB); err != nil {
				t.Fatal(err)
			}
			now := e.Clock.Now()
			return overdue, text, schedule.State(row, row.Edges.Practice, now), schedule.NextAttempt(row, row.Edges.Practice, now), runner(e, e.DB, nil).Failing(ctx)
		}
		if overdue, text, state, next, failing := troubles(); failing == nil || overdue.IsZero() || !strings.Contains(text, "is late") || !strings.HasPrefix(state, "late") || next == nil {
			t.Errorf("before the practice is closed: %v, %v, %q, %q, %v", failing, overdue, text, state, next)
		}
		storetest.Exec(t, e.DB, "UPDATE practices SET closes_at = $1", due)
		if overdue, text, state, next, failing := troubles(); failing != nil || !overdue.IsZero() || text != "" || state != "ended: its practice is closed" || next != nil {
			t.Errorf("of a closed practice: %v, %v, %q, %q, %v", failing, overdue, text, state, next)
		}
	})
}

// TestServerRunsSchedules: the program's own job does it, by the server's clock.
func TestServerRunsSchedules(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		dir := t.TempDir()
		add(t, e, dir, "", "xlsx")
		e.Clock.Set(due)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Server.Run(ctx, listener) }()
		for until := time.Now().Add(storetest.Timeout); len(files(t, dir)) == 0 || strings.HasPrefix(files(t, dir)[0], "."); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(until) {
				t.Error("nothing is stored")
				break
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := files(t, dir); !slices.Equal(got, []string{strings.Replace(incomeFile, ".csv", ".xlsx", 1)}) {
			t.Errorf("stored %v", got)
		}
	})
}
