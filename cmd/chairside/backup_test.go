package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// runIn runs the program in a directory and returns its output.
func runIn(t *testing.T, dir string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "chairside", arguments...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	return string(out), err
}

// copiesIn returns the copies in a directory, and fails unless each fits its checksum and is whole.
func copiesIn(t *testing.T, dir, copies string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, copies, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		check := exec.CommandContext(t.Context(), "sha256sum", "--check", filepath.Base(path)+".sha256")
		check.Dir = filepath.Dir(path)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
		if out, err := runIn(t, dir, "restore-check", "sqlite:"+path); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestKilledBackupLeavesNoHalfCopy kills backups at different moments: every file that has the name
// of a copy is a whole one, and the next backup removes what the killed ones left.
func TestKilledBackupLeavesNoHalfCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "copies"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := runIn(t, dir, "seed", "--patients=200", "--years=1"); err != nil {
		t.Fatal(err, out)
	}
	killed := 0
	for _, encrypted := range []bool{false, true} {
		for n := range 8 {
			flags := []string{"backup", "copies"}
			if encrypted {
				flags = append(flags, "--encrypt-to=age15c8e6wdj8kr2wy7jz7dac7qus6r0uc5jqx8f6qq79sxvylel4fhs4pgpan")
			}
			command := exec.CommandContext(t.Context(), "chairside", flags...)
			command.Dir = dir
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			partial := func() bool {
				found, _ := filepath.Glob(filepath.Join(dir, "copies", ".*.partial"))
				inside, _ := filepath.Glob(filepath.Join(dir, ".*.partial"))
				return len(found)+len(inside) > 0
			}
			ended := make(chan error, 1)
			go func() { ended <- command.Wait() }()
			for !partial() && len(ended) == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(n) * 10 * time.Millisecond)
			_ = command.Process.Kill() // fails if it has ended
			if <-ended != nil {
				killed++
			}
			copiesIn(t, dir, "copies")
		}
	}
	if killed == 0 {
		t.Error("no backup was killed")
	}
	if out, err := runIn(t, dir, "backup", "copies", "--keep=1", "--encrypt-to=age15c8e6wdj8kr2wy7jz7dac7qus6r0uc5jqx8f6qq79sxvylel4fhs4pgpan"); err != nil {
		t.Fatal(err, out)
	}
	for _, d := range []string{filepath.Join(dir, "copies"), dir} {
		left, err := os.ReadDir(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if strings.Contains(e.Name(), ".partial") || d != dir && !strings.Contains(e.Name(), ".db.age") {
				t.Errorf("%s is left", e.Name())
			}
		}
	}
}

// TestServersMakeOneCopy: of two servers on one database one makes the copy that is due. Neither makes
// one that is not. A database that a server uses is not replaced.
func TestServersMakeOneCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "copies"), 0o700); err != nil {
		t.Fatal(err)
	}
	serve := func() (address string, stop func() error) {
		address, _, stop = demo(t, dir, "--database-url=sqlite:chairside.db", "--backup-dir=copies", "--backup-every=24h")
		return address, stop
	}
	first, stopFirst := serve()
	second, stopSecond := serve()
	for _, address := range []string{first, second} {
		ran := ""
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
			status, metrics := get(t, address+"/metrics", "")
			if ran = metrics; status == http.StatusOK && strings.Contains(metrics, `chairside_job_last_run_timestamp_seconds{job_name="write_backups"}`) {
				break
			}
		}
		if !strings.Contains(ran, `chairside_job_failing_seconds{job_name="write_backups"} 0`) {
			t.Errorf("%s: the job fails, or has not run", address)
		}
	}
	made := copiesIn(t, dir, "copies")
	if len(made) != 1 {
		t.Fatalf("the copies are %v", made)
	}
	copied := filepath.Join("copies", made[0])
	for range 2 { // while both serve, and while one does
		if out, err := runIn(t, dir, "restore", copied); err == nil || !strings.Contains(out, "nothing was changed: a server or another program uses the database") {
			t.Errorf("restore while a server runs: %v: %s", err, out)
		}
		if stopFirst != nil {
			if err := stopFirst(); err != nil {
				t.Error(err)
			}
			stopFirst = nil
		}
	}
	if status, body := get(t, second+"/readyz", ""); status != http.StatusOK {
		t.Errorf("the server that goes on: %d %s", status, body)
	}
	if err := stopSecond(); err != nil {
		t.Error(err)
	}
	_, stopThird := serve() // it finds a copy that is recent enough
	if err := stopThird(); err != nil {
		t.Error(err)
	}
	if made := copiesIn(t, dir, "copies"); len(made) != 1 {
		t.Errorf("after a restart the copies are %v", made)
	}
	if out, err := runIn(t, dir, "restore", copied); err != nil {
		t.Errorf("restore: %v: %s", err, out)
	}
	address, stop := serve()
	if status, body := get(t, address+"/readyz", ""); status != http.StatusOK {
		t.Errorf("after the restore: %d %s", status, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestRootLeavesItsFilesToTheServer: a server's user can copy its database after root did, and open one
// that root restored.
func TestRootLeavesItsFilesToTheServer(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files to other users")
	}
	const server = 65534
	dir := t.TempDir()
	if out, err := runIn(t, dir, "seed", "--patients=5", "--years=1"); err != nil {
		t.Fatal(err, out)
	}
	for _, file := range []string{".", "chairside.db"} {
		if err := os.Chown(filepath.Join(dir, file), server, server); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][]string{
		{"backup", "copy.db"},
		{"restore", "copy.db"},
		{"restore", "copy.db", "--database-url=sqlite:new.db"},
	} {
		if out, err := runIn(t, dir, c...); err != nil {
			t.Fatal(c, err, out)
		}
	}
	for _, file := range []string{"chairside.db", "new.db", ".chairside.db.backup.lock", ".new.db.backup.lock"} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != server || owner.Gid != server || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: owner %d, group %d, mode %s", file, owner.Uid, owner.Gid, info.Mode())
		}
	}
}

// TestServerRemovesWhatAKilledRestoreLeft: the start of a server removes decrypted copies beside its database,
// and leaves those of a restore that runs.
func TestServerRemovesWhatAKilledRestoreLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	staged := filepath.Join(dir, ".chairside.db.restore-1")
	leave := func() {
		if err := errors.Join(os.Mkdir(staged, 0o700), os.WriteFile(filepath.Join(staged, "chairside.db"), []byte("patients"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	serve := func() {
		_, _, stop := demo(t, dir, "--database-url=sqlite:chairside.db")
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	leave()
	serve()
	if _, err := os.Stat(staged); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the decrypted copy is left: %v", err)
	}
	lock := flock.New(filepath.Join(dir, ".chairside.db.backup.lock"))
	if held, err := lock.TryLock(); err != nil || !held {
		t.Fatal(held, err)
	}
	leave()
	serve()
	if _, err := os.Stat(staged); err != nil {
		t.Errorf("the directory of a restore that runs is gone: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}
