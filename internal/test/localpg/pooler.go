package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNoPooler means that PgBouncer is not installed.
var ErrNoPooler = errors.New("localpg: no pgbouncer found on PATH or in /usr/sbin")

// Pooler is a running PgBouncer in transaction mode in front of a server.
type Pooler struct {
	dir     string
	port    int
	process *process
}

// ignored are the parameters that PgBouncer does not know. It drops them.
const ignored = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,jit"

// Untracked keeps PgBouncer from preparing statements itself, which it can since 1.21.
const Untracked = "max_prepared_statements = 0"

// tracks reports whether PgBouncer knows Untracked.
func tracks(ctx context.Context, program string) bool {
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	var major, minor int
	_, scanErr := fmt.Sscanf(string(version), "PgBouncer %d.%d", &major, &minor)
	return err == nil && scanErr == nil && (major > 1 || minor >= 21)
}

// StartPooler starts a PgBouncer for the user of a database's URL, and all databases of its server.
// Each database has four connections, so that clients take turns on them. Each setting is "name =
// value", as in pgbouncer.ini; Untracked is one too. It fails with ErrNoPooler.
func StartPooler(ctx context.Context, server string, settings ...string) (p *Pooler, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !isFile(program) {
			return nil, ErrNoPooler
		}
	}
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	p = &Pooler{}
	if p.dir, err = os.MkdirTemp("", dirPattern); err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	if p.port, err = freePort(); err != nil {
		return nil, err
	}
	if !tracks(ctx, program) {
		settings = slices.DeleteFunc(settings, func(s string) bool { return s == Untracked })
	}
	password, _ := u.User.Password()
	users := filepath.Join(p.dir, "users")
	configuration := filepath.Join(p.dir, "pgbouncer.ini")
	files := map[string]string{
		filepath.Join(p.dir, ownerFile): strconv.Itoa(os.Getpid()),
		users:                           fmt.Sprintf("%q %q\n", u.User.Username(), password),
		configuration: fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\n", u.Hostname(), u.Port()) +
			fmt.Sprintf("listen_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = trust\nauth_file = %s\n", p.port, users) +
			"pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 3000\nserver_idle_timeout = 5\nserver_login_retry = 1\nignore_startup_parameters = " + ignored + "\n" +
			strings.Join(settings, "\n") + "\n",
	}
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return nil, fmt.Errorf("localpg: %w", err)
		}
	}
	for _, name := range []string{p.dir, users, configuration} {
		if account != nil {
			if err := os.Chown(name, int(account.Uid), int(account.Gid)); err != nil {
				return nil, fmt.Errorf("localpg: %w", err)
			}
		}
	}
	return p, p.start(ctx, program, configuration, account)
}

// start starts the process and waits until it accepts connections.
func (p *Pooler) start(ctx context.Context, program, configuration string, account *syscall.Credential) (err error) {
	command := exec.Command(program, configuration)
	var log bytes.Buffer // read only after the process has ended
	command.Stdout, command.Stderr = &log, &log
	command.Dir = p.dir
	confine(command, account)
	if p.process, err = startProcess(command); err != nil {
		return fmt.Errorf("localpg: start pgbouncer: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", p.host())
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.process.ended:
			return fmt.Errorf("localpg: pgbouncer ended while starting: %s", log.String())
		case <-ctx.Done():
			return fmt.Errorf("localpg: pgbouncer did not start: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *Pooler) host() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

// URL returns the URL of a database of the server, through the pooler.
func (p *Pooler) URL(direct string) (string, error) {
	u, err := url.Parse(direct)
	if err != nil {
		return "", fmt.Errorf("localpg: %w", err)
	}
	u.Host = p.host()
	return u.String(), nil
}

// Stop ends the pooler. A second call does nothing.
func (p *Pooler) Stop() error {
	if p.process != nil {
		p.process.stop(syscall.SIGTERM, stopTimeout)
	}
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("localpg: %w", err)
	}
	return nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
