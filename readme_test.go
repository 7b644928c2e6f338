package chairside_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// elsewhere are commands of the README that other tests run.
var elsewhere = []string{
	"go test ./...",     // runs this test
	"go generate ./...", // internal/codegen runs it in a copy of the repository
	"go run ./internal/store/migrate/diff resource_name",
}

// TestReadme runs the README's commands in order, with another port, its own databases,
// and the program built in a temporary directory.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), freePort(t)
	replace := strings.NewReplacer(
		"127.0.0.1:8080", "127.0.0.1:"+port,
		"-o chairside", "-o "+filepath.Join(dir, "chairside"),
		"chairside.keys", filepath.Join(dir, "chairside.keys"),
		"./chairside ", filepath.Join(dir, "chairside")+" ",
		"postgres://chairside@localhost/chairside", pgtest.New(t),
		"postgres://chairside@localhost/another", pgtest.New(t),
		" moving", " "+filepath.Join(dir, "moving"),
		" income.csv", " "+filepath.Join(dir, "income.csv"),
		" income.xlsx", " "+filepath.Join(dir, "income.xlsx"),
	)
	env := append(os.Environ(), "CHAIRSIDE_ADDR=127.0.0.1:"+port, "CHAIRSIDE_DATABASE_URL=sqlite:"+filepath.Join(dir, "chairside.db"))
	var serving *process
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(block[1]), "\n"), func(line string) bool { return slices.Contains(elsewhere, line) })
		if len(lines) == 0 {
			continue
		}
		script := replace.Replace(strings.Join(lines, "\n"))
		if serves := strings.Contains(lines[len(lines)-1], " serve"); serves {
			serving.stop(t)
			serving = start(t, env, script)
			t.Cleanup(func() { serving.stop(t) })
			serving.await(t, "http://127.0.0.1:"+port+"/readyz")
			continue
		}
		if strings.Contains(script, filepath.Join(dir, "chairside")+" ") {
			script = "export CHAIRSIDE_DATABASE_URL='" + serving.database + "'\n" + script
		}
		output, err := shell(t.Context(), env, script).CombinedOutput()
		empty := regexp.MustCompile(`"patients":\[\]`)
		if err != nil || bytes.Contains(output, []byte(`"error"`)) || empty.Match(output) {
			t.Fatalf("%s\n%v\n%s", script, err, output)
		}
	}
}

// shell returns the command for a script. Any failing line fails it.
func shell(ctx context.Context, env []string, script string) *exec.Cmd {
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(script, "curl ", "curl --silent --show-error --fail-with-body "))
	command.Env = env
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return command
}

// process is a script whose last command is a server.
type process struct {
	command  *exec.Cmd
	output   *lockedBuffer
	database string
	once     sync.Once
}

var exported = regexp.MustCompile(`export CHAIRSIDE_DATABASE_URL=(\S+)`)

func start(t *testing.T, env []string, script string) *process {
	t.Helper()
	p := &process{command: shell(context.WithoutCancel(t.Context()), env, script), output: &lockedBuffer{}}
	p.command.Stdout, p.command.Stderr = p.output, p.output
	if m := exported.FindStringSubmatch(script); m != nil {
		p.database = m[1]
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// await waits until the server is ready.
func (p *process) await(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // includes compiling
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no server at %s:\n%s", url, p.output)
		case <-tick.C:
			if err := syscall.Kill(p.command.Process.Pid, 0); err != nil {
				t.Fatalf("the server ended:\n%s", p.output)
			}
		}
	}
}

// stop interrupts the script and its processes.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if p == nil {
		return
	}
	p.once.Do(func() {
		if err := syscall.Kill(-p.command.Process.Pid, syscall.SIGINT); err != nil {
			t.Errorf("%v:\n%s", err, p.output)
		}
		_ = p.command.Wait() // it was interrupted
	})
}

// lockedBuffer is a buffer that a process writes while the test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
