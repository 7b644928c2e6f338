package guides_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"chairside/internal/guides"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
	"chairside/internal/test/testkeys"
)

// The addresses and the token in samples, which the tests replace: sandboxAddress by that of the
// demo or of the server that the guide starts, callbackAddress by a free port.
const (
	sandboxAddress  = "127.0.0.1:8080"
	callbackAddress = "127.0.0.1:8976"
	shownToken      = "cs_pat_…"
)

// TestSamples runs the blocks of each guide against a demo of its own, on both databases, and
// compares their outputs with the shown ones.
func TestSamples(t *testing.T) {
	t.Parallel()
	need(t, "bash", "curl", "jq", "mkfifo", "node", "openssl", "python3")
	if len(guides.All()) < 20 {
		t.Fatalf("only %d guides found", len(guides.All()))
	}
	for _, g := range guides.All() {
		t.Run(g.Name, func(t *testing.T) {
			onBothDatabases(t, func(t *testing.T, databases kind) { runSamples(t, g, databases) })
		})
	}
}

// need skips the test unless all tools are installed. In CI it fails.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		} else if os.Getenv("CI") == "true" {
			t.Fatal(err)
		} else {
			t.Skip(err)
		}
	}
}

// built is the directory of the program, which TestMain deletes.
var built string

// program builds the program once, and returns its directory.
var program = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "chairside-guides-*"); err != nil {
		return "", err
	}
	built = dir
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "chairside"), "chairside/cmd/chairside").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

// between separates the outputs of blocks.
const between = "\x1e"

// TestSamplesInAnyOrder runs the blocks of all guides against one demo and in one directory, as a reader of several guides
// does: in the order of reading, then backwards in another directory. What a guide leaves behind disturbs no other one.
func TestSamplesInAnyOrder(t *testing.T) {
	t.Parallel()
	need(t, "bash", "curl", "jq", "mkfifo", "node", "openssl", "python3")
	d := demo(t, sqlite)
	order := slices.DeleteFunc(slices.Clone(guides.All()), guides.Guide.StartsServer)
	for _, way := range []string{"forwards", "backwards"} {
		dir := t.TempDir()
		for _, g := range order {
			t.Run(way+"/"+g.Name, func(t *testing.T) {
				setting{strings.TrimPrefix(d.URL, "http://"), "127.0.0.1:" + freePort(t), d.token, d.database}.run(t, g, dir)
			})
		}
		slices.Reverse(order)
	}
}

// runSamples runs the blocks of a guide in a directory of its own.
func runSamples(t *testing.T, g guides.Guide, databases kind) {
	s := setting{callback: "127.0.0.1:" + freePort(t)}
	if g.StartsServer() {
		s.server, s.token, s.database = "127.0.0.1:"+freePort(t), "$(grep -o 'cs_pat_[^ ]*' serve.out | head -n 1)", empty(t, databases)
	} else {
		d := demo(t, databases)
		s.server, s.token, s.database = strings.TrimPrefix(d.URL, "http://"), d.token, d.database
	}
	s.run(t, g, t.TempDir())
}

// run runs the blocks of a guide in a directory.
func (s setting) run(t *testing.T, g guides.Guide, dir string) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	script, blocks := s.script(g)
	bash := exec.CommandContext(t.Context(), "bash", "-c", script)
	bash.Dir = dir
	tools := t.TempDir()
	bash.Env = append(os.Environ(), "BASE=http://"+s.server, "TOKEN="+s.token,
		"CHAIRSIDE_DATABASE_URL="+s.database, "CHAIRSIDE_KEYS="+testkeys.Text, "CHAIRSIDE_ADDR="+s.server, "NO_COLOR=1", "TZ=UTC",
		"PATH="+tools+":"+bin+":"+os.Getenv("PATH"))
	browse(t, bash, tools)
	var out, log strings.Builder
	bash.Stdout, bash.Stderr = &out, &log
	failure := bash.Run()
	outputs := strings.Split(out.String(), between)[1:]
	for i, output := range outputs {
		if failure != nil && i == len(outputs)-1 {
			t.Fatalf("%s.md, line %d: %v\n%s%s", g.Name, blocks[i].Line, failure, output, log.String())
		}
		shown := s.replace(blocks[i].Answer)
		if problem := compare(shown, output); problem != "" {
			t.Errorf("%s.md, line %d: %s", g.Name, blocks[i].Line, problem)
		}
	}
}

// setting is what the samples of a guide find.
type setting struct{ server, callback, token, database string }

// replace returns a text with the addresses of this run.
func (s setting) replace(text string) string {
	return strings.NewReplacer(sandboxAddress, s.server, callbackAddress, s.callback, strings.TrimPrefix(callbackAddress, "127.0.0.1:"), strings.TrimPrefix(s.callback, "127.0.0.1:")).Replace(text)
}

// script returns a shell script of a guide's blocks that run, and these blocks. It prints
// between before the output of each.
func (s setting) script(g guides.Guide) (string, []guides.Block) {
	var script strings.Builder
	var blocks []guides.Block
	script.WriteString("set -euo pipefail\n")
	for i, b := range g.Blocks {
		if b.Use != guides.Run && b.Use != guides.Serve {
			continue
		}
		blocks = append(blocks, b)
		text := s.replace(strings.ReplaceAll(b.Text, "TOKEN="+shownToken, "TOKEN="+s.token))
		fmt.Fprintf(&script, "printf '%s'\n", between)
		switch run := map[string]string{"js": "node sample-%d.mjs", "python": "python3 sample-%d.py"}[b.Language]; {
		case b.Use == guides.Serve:
			fmt.Fprintf(&script, serving, text, s.server)
		case run != "":
			run = fmt.Sprintf(run, i+1)
			fmt.Fprintf(&script, "cat > %s <<'END_OF_SAMPLE'\n%sEND_OF_SAMPLE\n%s\n", strings.Fields(run)[1], text, run)
		default:
			script.WriteString(text)
		}
	}
	return script.String(), blocks
}

// serving starts a server in a process group of its own, which ends with the script.
const serving = `cat > serve.sh <<'END_OF_SAMPLE'
%sEND_OF_SAMPLE
set -m
bash serve.sh > serve.out 2> serve.err < /dev/null &
server=$!
set +m
trap 'kill -- -$server; wait $server || true' EXIT
until curl -sf -o ready http://%s/readyz; do kill -0 $server; sleep 0.2; done
cat serve.out
`

// browse lets the command xdg-open of a sample act as a person's browser: the person signs in
// as the demo's administrator and allows the application's request. The sample reads the
// address at which the browser ends.
func browse(t *testing.T, bash *exec.Cmd, tools string) {
	t.Helper()
	opened, err := os.MkdirTemp("", "chairside-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(opened) })
	fifo := filepath.Join(opened, "address")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(tools, "xdg-open"), []byte("#!/bin/sh\nprintf '%s\\n' \"$1\" > "+fifo+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	addresses, err := os.OpenFile(fifo, os.O_RDWR, 0) // for writing, too, so that it has no end
	if err != nil {
		t.Fatal(err)
	}
	input, ended, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	bash.Stdin = input
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer ended.Close()
		lines := bufio.NewScanner(addresses)
		for lines.Scan() {
			if to := allow(t, lines.Text()); to.Hostname() != "127.0.0.1" {
				fmt.Fprintln(ended, to)
			} else if _, err := http.Get(to.String()); err != nil { // the application listens for the code
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		addresses.Close()
		<-done
		input.Close()
	})
}

// allow returns the address to which a person who allows a request is redirected.
func allow(t *testing.T, address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	b := (&harness.Env{URL: "http://" + u.Host}).Browser(t).SignIn(seed.DemoAdmin)
	consent := b.Get(u.RequestURI()).Status(t, http.StatusOK).Form(t, "/oauth/authorize")
	return b.Submit(consent, url.Values{"decision": {"allow"}}).Redirect(t)
}

// compare reports how an output differs from the shown one. A shown … stands for any text
// within a line, or, alone on a line, for any lines.
func compare(shown, output string) string {
	if shown == "" {
		if strings.Contains(output, `"error":`) {
			return "the sample fails, and its answer is not shown: " + output
		}
		return ""
	}
	shown, output = strings.TrimSpace(shown)+"\n", strings.TrimSpace(output)+"\n"
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		line = strings.TrimRight(line, " \n")
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i, part := range strings.Split(line, "…") {
			if i > 0 {
				pattern.WriteString(".+?")
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(` *\n`)
	}
	if regexp.MustCompile(`^(?:` + pattern.String() + `)$`).MatchString(output) {
		return ""
	}
	return "the output is\n" + output + "and not, as shown,\n" + shown
}

func TestShownOutputsAreCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, output string
		same          bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\n", false},
		{"a\n", "a\nb\n", false},
		{`"id": …,` + "\n", `"id": 17,` + "\n", true},
		{`"id": …,` + "\n", `"id": ,` + "\n", false},
		{`"id": …,` + "\n", `"id": 17` + "\n", false},
		{"a\n…\nz\n", "a\nb\nc\nz\n", true},
		{"a\n  …\nz\n", "a\nz\n", true},
		{"a\n…\nz\n", "a\nb\nc\n", false},
		{"a.c\n", "abc\n", false},
		{"", `{"error": {"code": "x"}}`, false},
		{"", `{"patients": []}`, true},
	} {
		if got := compare(c.shown, c.output); (got == "") != c.same {
			t.Errorf("%q and %q: %s", c.shown, c.output, got)
		}
	}
}

// unrun has the numbers of blocks that TestSamples does not run, with the reasons.
var unrun = map[string]int{
	"sandbox":            2, // servers in place of the one that runs: TestSandboxStarts
	"clients":            2, // TestTypeScriptClient
	"webhooks":           4, // TestWebhookReceivers; a command that does not end: TestListenForwards
	"assistants":         1, // a file of another program
	"audit":              2, // a server; checkpoints of a server that ran for minutes
	"keys":               2, // servers, and the keys of one that runs
	"leaving":            1, // a second server
	"patient-data":       1, // cannot be undone, and is refused for recent records
	"row-level-security": 3, // roles of a PostgreSQL server
	"sql":                8, // roles of a PostgreSQL server, psql and sqlite3; TestQueries runs the queries
	"go":                 3, // TestGoIsTested
	"moving":             2, // files of Open Dental, and another server: TestMovingImports
	"extract":            2, // DuckDB, and a line of cron
	"reports":            1, // a mail server
	"install":            4, // packages, services, containers
	"backups":            8, // a server, a key of age, PostgreSQL's archive, Litestream
	"monitoring":         3, // a server in place of the one that runs, a container, a line of the log
	"capacity":           8, // benchmarks of hours, a pooler; TestCapacityQueries runs the queries
	"availability":       9, // a load balancer, a service of systemd, replicas, a failover, a pooler and its roles
}

// TestEveryBlockRuns counts the blocks that do not run, so that no sample is left out
// unnoticed.
func TestEveryBlockRuns(t *testing.T) {
	t.Parallel()
	for _, g := range guides.All() {
		left := 0
		for _, b := range g.Blocks {
			if b.Use == guides.Program || b.Use == guides.NotRun {
				left++
			}
		}
		if left != unrun[g.Name] {
			t.Errorf("%s.md: %d blocks do not run, want %d", g.Name, left, unrun[g.Name])
		}
		if fences := len(fence.FindAllString(g.Source, -1)); fences != 2*(len(g.Blocks)+answers(g)) {
			t.Errorf("%s.md: %d fences, but %d blocks", g.Name, fences, len(g.Blocks)+answers(g))
		}
	}
}

var fence = regexp.MustCompile("(?m)^\\s*```")

// answers counts the shown outputs of a guide.
func answers(g guides.Guide) (n int) {
	for _, b := range g.Blocks {
		if b.Answer != "" {
			n++
		}
	}
	return n
}
