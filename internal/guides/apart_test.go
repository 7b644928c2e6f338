package guides_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chairside/internal/guides"
	"chairside/internal/store"
	"chairside/internal/store/storetest"
	"chairside/internal/test/testkeys"
)

// apart runs blocks that cannot run beside the demo of their guide, each in a shell of its own.
type apart struct {
	dir         string
	environment []string
	replace     *strings.Replacer
}

// shell returns the command of the block of a guide that contains a text.
func (a apart) shell(t *testing.T, guide, contains string) (shell *exec.Cmd, printed *output) {
	t.Helper()
	i := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == guide })
	blocks := slices.DeleteFunc(slices.Clone(guides.All()[i].Blocks), func(b guides.Block) bool {
		return b.Use != guides.NotRun || b.Language != "sh" || !strings.Contains(b.Text, contains)
	})
	if len(blocks) != 1 {
		t.Fatalf("%s.md has %d blocks with %s", guide, len(blocks), contains)
	}
	return a.command(t, a.replace.Replace(blocks[0].Text))
}

// command returns a command line for a shell.
func (a apart) command(t *testing.T, line string) (shell *exec.Cmd, printed *output) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	printed = &output{}
	shell = exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-euc", line)
	shell.Dir, shell.Stdout, shell.Stderr = a.dir, printed, printed
	shell.Env = append(os.Environ(), "NO_COLOR=1", "CHAIRSIDE_KEYS="+testkeys.Text, "PATH="+bin+":"+os.Getenv("PATH"))
	shell.Env = append(shell.Env, a.environment...)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return shell, printed
}

// run runs a command that ends, and returns what it prints.
func run(t *testing.T, shell *exec.Cmd, printed *output) string {
	t.Helper()
	if err := shell.Run(); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	return printed.String()
}

// start starts a command that runs until stop.
func start(t *testing.T, shell *exec.Cmd) (stop func()) {
	t.Helper()
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGTERM) // fails if it has ended
		_ = shell.Wait()                                      // ends with an error, because of the signal
	}
	t.Cleanup(stop)
	return stop
}

// TestSandboxStarts starts the servers of the guide on the sandbox: one that sends webhooks to private
// addresses, and a new one after its files are deleted.
func TestSandboxStarts(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	address := "127.0.0.1:" + freePort(t)
	a := apart{dir: t.TempDir(), environment: []string{"CHAIRSIDE_ADDR=" + address}, replace: strings.NewReplacer()}
	mark := filepath.Join(a.dir, "chairside.db-mark") // the guide deletes it with the database
	for _, block := range []string{"--webhook-allow-private", "rm chairside.db*"} {
		shell, printed := a.shell(t, "sandbox", block)
		stop := start(t, shell)
		wait(t, block, func() bool {
			response, err := http.Get("http://" + address + "/readyz")
			if err != nil {
				return false
			}
			response.Body.Close()
			return response.StatusCode == http.StatusOK
		})
		stop()
		if _, err := os.Stat(filepath.Join(a.dir, "chairside.db")); err != nil {
			t.Fatalf("%s: %v: %s", block, err, printed)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s does not delete the old files", block)
		}
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListenForwards runs the command of the guide on webhooks that forwards the changes of a server
// to a local URL.
func TestListenForwards(t *testing.T) {
	need(t, "bash")
	onBothDatabases(t, func(t *testing.T, databases kind) {
		events := make(chan string, 10)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			events <- string(body)
		}))
		defer receiver.Close()
		d := demo(t, databases)
		shell, printed := apart{
			dir: t.TempDir(), environment: []string{"CHAIRSIDE_TOKEN=" + d.token},
			replace: strings.NewReplacer("http://"+sandboxAddress, d.URL, "http://localhost:3000", receiver.URL),
		}.shell(t, "webhooks", "chairside listen")
		start(t, shell)
		wait(t, "the secret", func() bool { return strings.Contains(printed.String(), "whsec_") })
		d.call(t, http.MethodPatch, "/v1/patients/1", `{"patient": {"preferred_name": "Listener"}}`)
		select {
		case event := <-events:
			if !strings.Contains(event, `"patients.updated"`) || !strings.Contains(event, `"Listener"`) {
				t.Errorf("the receiver gets %s", event)
			}
		case <-time.After(storetest.Timeout):
			t.Errorf("the receiver gets nothing: %s", printed)
		}
	})
}

// TestMovingImports runs the imports of the guide on moving, from files of Open Dental and from
// another server.
func TestMovingImports(t *testing.T) {
	need(t, "bash")
	onBothDatabases(t, func(t *testing.T, databases kind) {
		old := demo(t, sqlite)
		a := apart{dir: t.TempDir(), environment: []string{"CHAIRSIDE_DATABASE_URL=" + empty(t, databases)}, replace: strings.NewReplacer("https://old.example.com", old.URL)}
		if err := os.CopyFS(filepath.Join(a.dir, "export"), os.DirFS("../importer/testdata/opendental")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.dir, "token.txt"), []byte(old.token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		shell, printed := a.command(t, `chairside migrate up
			echo correct-horse-battery | chairside practice create --name Bright --time-zone Europe/London --country GB --email owner@bright.example`)
		run(t, shell, printed)
		for _, block := range []string{"--mapping opendental", "--from-api"} {
			shell, printed := a.shell(t, "moving", block)
			if text := run(t, shell, printed); !strings.Contains(text, "patients ") {
				t.Errorf("%s prints %s", block, text)
			}
		}
		db, err := store.Open(t.Context(), strings.TrimPrefix(a.environment[0], "CHAIRSIDE_DATABASE_URL="))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var patients int
		if err := db.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM patients").Scan(&patients); err != nil || patients < 2000 {
			t.Errorf("%d patients are imported: %v", patients, err)
		}
	})
}
