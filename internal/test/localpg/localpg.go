package localpg

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotInstalled means that no PostgreSQL server is installed.
var ErrNotInstalled = errors.New("localpg: no PostgreSQL server found on PATH or in /usr/lib/postgresql/*/bin")

const (
	dirPattern   = "chairside-postgres-*"
	ownerFile    = "owner" // holds the id of the process that started the server
	superuser    = "postgres"
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

// Server is a running PostgreSQL server that belongs to this process.
type Server struct {
	bin      string // directory of the PostgreSQL programs
	dir      string // holds the cluster and the socket
	port     int
	password string
	process  *process
	kept     bool     // Stop keeps the cluster: see StartIn
	settings []string // further server arguments
}

// Start creates a cluster in a temporary directory and starts a server on it. Each setting is
// "name=value", as in postgresql.conf. It fails with ErrNotInstalled.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	sweep()
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	s.set(settings...)
	if s.dir, err = os.MkdirTemp("", dirPattern); err != nil {
		return nil, fmt.Errorf("localpg: %w", err)
	}
	if err := s.create(ctx, account); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) set(settings ...string) {
	for _, setting := range settings {
		s.settings = append(s.settings, "-c", setting)
	}
}

// create creates the cluster and starts the server.
func (s *Server) create(ctx context.Context, account *syscall.Credential) error {
	s.password = rand.Text()
	if err := s.prepare(account); err != nil {
		return err
	}
	if err := s.initialize(ctx, account, s.passwordFile()); err != nil {
		return err
	}
	return s.serve(ctx, account)
}

// prepare gives the directory to the account and writes the files that are not PostgreSQL's.
func (s *Server) prepare(account *syscall.Credential) error {
	for name, content := range map[string]string{
		filepath.Join(s.dir, ownerFile): strconv.Itoa(os.Getpid()),
		s.passwordFile():                s.password,
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return fmt.Errorf("localpg: %w", err)
		}
	}
	if account == nil {
		return nil
	}
	for _, name := range []string{s.dir, s.passwordFile()} {
		if err := os.Chown(name, int(account.Uid), int(account.Gid)); err != nil {
			return fmt.Errorf("localpg: %w", err)
		}
	}
	return nil
}

// serve starts the server on an existing cluster.
func (s *Server) serve(ctx context.Context, account *syscall.Credential) error {
	// Another process may take the free port before the server does.
	var err error
	for range 3 {
		if err = s.listen(ctx, account); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

// initialize creates the cluster, with a linguistic default collation if the server has
// ICU.
func (s *Server) initialize(ctx context.Context, account *syscall.Credential, passwordFile string) error {
	arguments := []string{
		"--pgdata", s.data(), "--username", superuser, "--pwfile", passwordFile,
		"--auth-local", "trust", // the socket is in a directory that only this user can enter
		"--auth-host", "scram-sha-256",
		"--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
	}
	var failures error
	for _, collation := range [][]string{{"--locale-provider", "icu", "--icu-locale", "en-US"}, nil} {
		command := exec.CommandContext(ctx, s.program("initdb"), slices.Concat(arguments, collation)...)
		confine(command, account)
		command.Dir = s.dir
		output, err := command.CombinedOutput()
		if err == nil {
			return nil
		}
		failures = errors.Join(failures, fmt.Errorf("localpg: initdb: %w\n%s", err, output))
		if err := os.RemoveAll(s.data()); err != nil {
			return errors.Join(failures, err)
		}
	}
	return failures
}

// listen starts the server on a free port and waits until it answers.
func (s *Server) listen(ctx context.Context, account *syscall.Credential) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	return s.listenOn(ctx, account, port)
}

// listenOn is listen on a port.
func (s *Server) listenOn(ctx context.Context, account *syscall.Credential, port int) error {
	s.port = port
	arguments := []string{"-D", s.data(), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=" + s.dir,
		"-c", "max_connections=900", // many parallel tests of several packages, each with its own pool
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
		"-c", "wal_level=minimal", "-c", "max_wal_senders=0",
	}
	command := exec.Command(s.program("postgres"), append(arguments, s.settings...)...)
	var log bytes.Buffer // read only after the process has ended
	command.Stdout, command.Stderr = &log, &log
	command.Dir = s.dir
	confine(command, account)
	process, err := startProcess(command)
	if err != nil {
		return fmt.Errorf("localpg: start postgres: %w", err)
	}
	s.process = process

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := s.run(ctx, "pg_isready", "--quiet")
		if err == nil {
			return nil
		}
		select {
		case <-process.ended:
			return fmt.Errorf("localpg: postgres ended while starting: %s", log.String())
		case <-ctx.Done():
			process.stop(syscall.SIGQUIT, stopTimeout)
			return fmt.Errorf("localpg: postgres did not start: %w\n%s", ctx.Err(), log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// URL returns a database's URL, with the password.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// CreateDatabase creates an empty database.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return s.run(ctx, "createdb", "--template", "template0", name)
}

// CreateDatabaseFrom creates a copy of a database that has no connections.
func (s *Server) CreateDatabaseFrom(ctx context.Context, name, template string) error {
	return s.run(ctx, "createdb", "--template", template, name)
}

// DropDatabase drops a database, if it exists, and ends its connections.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.run(ctx, "dropdb", "--if-exists", "--force", name)
}

// Stop stops the server and removes its data, unless they are kept. A second call does
// nothing.
func (s *Server) Stop() error {
	if s.kept {
		s.stopKept()
		return nil
	}
	if s.process != nil {
		s.process.stop(syscall.SIGQUIT, stopTimeout)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("localpg: %w", err)
	}
	return nil
}

// run runs a PostgreSQL client program over the socket.
func (s *Server) run(ctx context.Context, name string, arguments ...string) error {
	command := exec.CommandContext(ctx, s.program(name), append(s.client(), arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("localpg: %s: %w %s", name, err, bytes.TrimSpace(output))
	}
	return nil
}

// client returns the arguments that connect a client program over the socket.
func (s *Server) client() []string {
	return []string{"--host", s.dir, "--port", strconv.Itoa(s.port), "--username", superuser}
}

func (s *Server) data() string               { return filepath.Join(s.dir, "data") }
func (s *Server) passwordFile() string       { return filepath.Join(s.dir, "password") }
func (s *Server) program(name string) string { return filepath.Join(s.bin, name) }

// find returns the directory of the installation on PATH, or else of the newest one.
func find() (string, error) {
	var candidates []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// Some link only the server itself; its companions are beside the target.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			candidates = append(candidates, filepath.Dir(target))
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/pgsql-*/bin",                  // PostgreSQL's own RPM packages
		"/opt/homebrew/opt/postgresql*/bin", // macOS
		"/usr/local/opt/postgresql*/bin",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("localpg: %w", err)
		}
		slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
		candidates = append(candidates, found...)
	}
	for _, dir := range candidates {
		complete := true
		for _, program := range []string{"postgres", "initdb", "createdb", "dropdb", "pg_isready"} {
			if _, err := exec.LookPath(filepath.Join(dir, program)); err != nil {
				complete = false
			}
		}
		if complete {
			return dir, nil
		}
	}
	return "", ErrNotInstalled
}

// Program returns the path of a PostgreSQL program: pg_dump, psql.
func Program(name string) (string, error) {
	bin, err := find()
	if err != nil {
		return "", err
	}
	path, err := exec.LookPath(filepath.Join(bin, name))
	if err != nil {
		return "", fmt.Errorf("localpg: %w", err)
	}
	return path, nil
}

// version returns the number in an installation's path: 15 for /usr/lib/postgresql/15/bin.
func version(path string) int {
	digits := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	n, err := strconv.Atoi(digits[0])
	if err != nil {
		return 0
	}
	return n
}

// unprivileged returns the account to run the server under, or nil for our own.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(account.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("localpg: user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(account.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("localpg: user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("localpg: PostgreSQL refuses to run as root: create the user postgres")
}

// sweep removes the directories of ended processes. It skips directories that it cannot
// read or remove, which belong to other users.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), dirPattern))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		content, err := os.ReadFile(filepath.Join(dir, ownerFile))
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(string(content))
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		os.RemoveAll(dir)
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("localpg: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
