package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"chairside/internal/seal"
	"chairside/internal/test/localpg/pgtest"
)

// asFloor makes the test program run the hand-written server.
const asFloor = "CHAIRSIDE_BENCH_TEST_FLOOR"

func TestMain(m *testing.M) {
	if os.Getenv(asFloor) != "" {
		main()
		return
	}
	pgtest.Main(m)
}

// bench runs the benchmark with this module's chairside.
func bench(t *testing.T, args ...string) (status int, out, problems string) {
	t.Helper()
	t.Setenv(asFloor, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	status = run(&console{t.Context(), &o, &e, []string{self, "floor"}}, args)
	return status, o.String(), e.String()
}

// postgres returns a server's URL, or skips the test. It drops the benchmark's databases
// after the test.
func postgres(t *testing.T, z size) string {
	t.Helper()
	where := pgtest.New(t)
	t.Cleanup(func() {
		db, err := pgx.Connect(context.Background(), where)
		if err != nil {
			t.Error(err)
			return
		}
		defer db.Close(context.Background())
		for _, name := range []string{z.database(), z.copy()} {
			if _, err := db.Exec(context.Background(), "DROP DATABASE IF EXISTS "+quote(name)); err != nil {
				t.Error(err)
			}
		}
	})
	return where
}

// TestBenchmarkEndToEnd runs briefly at a tiny size: all servers give the same responses,
// and the result is complete. The run works on the seeded database, the check on a copy.
func TestBenchmarkEndToEnd(t *testing.T) {
	tinySize := size{"120x1", 120, 1}
	where := postgres(t, tinySize)
	dir := t.TempDir()
	program := filepath.Join(dir, "chairside")
	if out, err := exec.Command("go", "build", "-o", program, "chairside/cmd/chairside").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	file := filepath.Join(dir, "result.json")
	tiny := []string{"--postgres", where, "--chairside", program, "--sizes", tinySize.Name, "--clients", "2"}

	status, out, problems := bench(t, append(tiny, "--generator", "go", "--rounds", "1", "--duration", "100ms", "--warm-up", "0s", "--fresh", "50", "--output", file)...)
	if status != exitOK {
		t.Fatalf("status %d: %s", status, problems)
	}
	if !strings.Contains(out, "W9c patients by e-mail") || !strings.Contains(out, chairsideSQLite) {
		t.Errorf("unexpected table:\n%s", out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	complete(t, &r)

	status, out, problems = bench(t, append(tiny, "--check", "--keep", dir, "--samples", "3", "--no-sqlite")...)
	if status != exitOK || !strings.Contains(out, ", 0 offences") {
		t.Errorf("check: status %d\n%s\n%s", status, out, problems)
	}

	pair := []string{"pair", program, program, "--postgres", where, "--keep", dir, "--size", tinySize.Name, "--rounds", "1", "--duration", "100ms", "--clients", "2"}
	for _, of := range [][]string{{"--only", "W1", "--only", "W5"}, {"--path", "/v1/patients?query=a,b"}, {"--sqlite", "--only", "W1", "--only", "W5"}} {
		status, out, problems = bench(t, append(pair, of...)...)
		if status != exitOK || !strings.Contains(out, "A ÷ B") || strings.Contains(out, "NaN") {
			t.Errorf("%v: status %d\n%s\n%s", of, status, out, problems)
		}
	}

	status, out, problems = bench(t, "pair", program, program, "--replica", "--size", tinySize.Name, "--only", "W1", "--rounds", "1", "--duration", "100ms", "--clients", "2")
	if status != exitOK || !strings.Contains(out, "B replica") || strings.Contains(out, "NaN") {
		t.Errorf("with a replica: status %d\n%s\n%s", status, out, problems)
	}

	status, out, problems = bench(t, "reports", "--size", tinySize.Name, "--chairside", program, "--rounds", "1", "--duration", "100ms", "--clients", "2", "--reports", "2")
	if status != exitOK || !strings.Contains(out, "replica") || !strings.Contains(out, "busy loop") || strings.Contains(out, "NaN") {
		t.Errorf("reports: status %d\n%s\n%s", status, out, problems)
	}

	for _, on := range []string{"--sqlite=false", "--sqlite"} {
		status, out, problems = bench(t, "report-speed", on, "--postgres", where, "--keep", dir, "--size", tinySize.Name, "--chairside", program, "--rounds", "1")
		if status != exitOK || !strings.Contains(out, "contract-performance") || strings.Contains(out, "÷") != (on == "--sqlite=false") {
			t.Errorf("report-speed %s: status %d\n%s\n%s", on, status, out, problems)
		}
	}

	if _, err := exec.LookPath("wrk"); err != nil {
		t.Log("wrk is not installed")
		return
	}
	status, out, problems = bench(t, append(tiny, "--generator", "wrk", "--only", "W1", "--only", "W5", "--no-sqlite", "--rounds", "1", "--duration", "100ms", "--warm-up", "0s", "--fresh", "0", "--output", file)...)
	if status != exitOK || !strings.Contains(out, "own generator for latencies") {
		t.Errorf("with wrk: status %d\n%s\n%s", status, out, problems)
	}
}

// complete checks that a result is complete.
func complete(t *testing.T, r *result) {
	t.Helper()
	if len(r.Sizes) != 1 || r.Sizes[0].Rows["appointments"] == 0 || r.Sizes[0].Bytes == 0 || len(r.Sizes[0].Memory) != 4 {
		t.Errorf("sizes are %+v", r.Sizes)
	}
	for _, w := range workloads {
		servers := slices.DeleteFunc([]string{chairside, handWritten, equalPromises, chairsideSQLite}, func(name string) bool { return !w.on(name) })
		m := r.find("120x1", w.ID)
		if m == nil {
			t.Errorf("%s is missing", w.ID)
			continue
		}
		if len(m.Ratio.Rounds) != 1 || m.Ratio.Median <= 0 || (m.SQLiteRatio != nil) != w.SQLite || (m.EqualRatio != nil) != w.Writes {
			t.Errorf("%s: the ratio is %+v", w.ID, m.Ratio)
		}
		for _, name := range servers {
			if s := m.of(name); s == nil || s.Median.Requests == 0 || s.Median.P99 <= 0 || s.Median.Resident == 0 {
				t.Errorf("%s: %s is %+v", w.ID, name, s)
			}
		}
		for _, name := range servers[1:] {
			i := slices.IndexFunc(r.Sizes[0].Equal, func(e equality) bool { return e.Workload == w.ID && e.Server == name })
			if i < 0 {
				t.Errorf("%s: the responses of %s were not compared", w.ID, name)
				continue
			}
			if e := r.Sizes[0].Equal[i]; e.Compared == 0 || e.Identical != e.Compared && !w.Writes {
				t.Errorf("%s: %d of %d responses of %s are identical", w.ID, e.Identical, e.Compared, name)
			}
		}
	}
	if r.Fresh == nil || r.Fresh.Inserted != 50 || r.Fresh.W2.Median <= 0 || r.Fresh.W8.Median <= 0 || len(r.Fresh.Plans[2]) == 0 {
		t.Errorf("fresh rows are %+v", r.Fresh)
	}
	if len(r.Verdicts) == 0 || r.Versions.PostgreSQL == "" || r.Versions.Chairside == "" || r.Machine.Processors == 0 {
		t.Errorf("%+v %+v %+v", r.Verdicts, r.Versions, r.Machine)
	}
}

func TestInvalidFlagsAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"--sizes", "7"}, {"--only", "W99"}, {"--rounds", "0"}, {"--rounds", "2"}, {"--generator", "ab"}, {"reports", "--rounds", "2"}, {"report-speed", "--rounds", "2"}, {"report-speed", "--only", "nonsense"}, {"nonsense"}} {
		if status, _, problems := bench(t, args...); status != exitUsage || problems == "" {
			t.Errorf("%v: status %d, %q", args, status, problems)
		}
	}
}

func TestDifferenceNamesPathWithoutValues(t *testing.T) {
	want := reply{body: []byte(`{"patient":{"id":1,"names":["Ada","Grace"]}}`)}
	for body, says := range map[string]string{
		`{"patient": {"names": ["Ada", "Grace"], "id": 1}}`: "",
		`{"patient":{"id":1,"names":["Ada","Joan"]}}`:       "the responses differ at .patient.names[1]",
		`{"patient":{"id":2,"names":["Ada","Grace"]}}`:      "the responses differ at .patient.id",
		`{"patient":{"id":1}}`:                              "the responses differ at .patient",
	} {
		got := ""
		if err := want.same(reply{body: []byte(body)}, nil); err != nil {
			got = err.Error()
		}
		if got != says {
			t.Errorf("%s: %q, want %q", body, got, says)
		}
	}
	if err := want.same(reply{body: []byte(`{"patient":{"id":2,"names":["Ada","Grace"]}}`)}, []string{"id"}); err != nil {
		t.Errorf("an ignored member: %v", err)
	}
}

// TestFloorDoesNotRepeatAnInvalidURL: an error message must not contain the password.
func TestFloorDoesNotRepeatAnInvalidURL(t *testing.T) {
	secret := "s3cret"
	where := url.URL{Scheme: "postgres", User: url.UserPassword("u", secret), Host: "127.0.0.1:1", Path: "/none"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	keys := filepath.Join(t.TempDir(), "test.keys")
	if err := seal.Create(keys); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	status := run(&console{ctx, &o, &e, nil}, []string{"floor", "--keys-file", keys, "--database-url", where.String() + "?pool_max_conns=x"})
	if status != exitFailed || strings.Contains(e.String(), secret) {
		t.Errorf("status %d: %s", status, e.String())
	}
}
