package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
	"chairside/internal/test/localpg"
)

const serverPort = ":8080"

// servers are two servers on the cluster, and HAProxy in front of them.
type servers struct {
	dir, program string
	environment  []string
	databaseURL  string
	proxy        string // URL
	all          []*server
	client       http.Client
}

type server struct {
	url     string
	process *drill.Process
}

// startServers creates the database and starts the servers.
func startServers(ctx context.Context, c *cluster, program string) (*servers, error) {
	s := &servers{dir: c.dir, program: program, proxy: "http://" + proxy + serverPort}
	s.client = http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	if err := createDatabase(ctx, c.password); err != nil {
		return nil, err
	}
	text, err := configuration("chairside.env", 1)
	if err != nil {
		return nil, err
	}
	s.environment = append(settings(text, nil), "CHAIRSIDE_KEYS_FILE="+filepath.Join(s.dir, "keys"))
	for i, variable := range s.environment {
		if name, urls, _ := strings.Cut(variable, "="); strings.HasSuffix(name, "_URL") {
			if s.environment[i], err = signIn(name, urls, c.password); err != nil {
				return nil, err
			}
		}
	}
	_, s.databaseURL, _ = strings.Cut(s.environment[0], "=")
	for _, arguments := range [][]string{{"keys", "create", filepath.Join(s.dir, "keys")}, {"migrate", "up"}, {"seed", "--patients", "200", "--years", "1"}} {
		if _, err := s.command(ctx, arguments...); err != nil {
			return nil, err
		}
	}
	for i := range 2 {
		started := &server{url: "http://" + ours + strconv.Itoa(11+i) + serverPort}
		command := exec.Command(program, "serve", "--addr", strings.TrimPrefix(started.url, "http://"), "--drain", "0", "--rate-limit", "0", "--webhook-allow-private") //nolint:noctx,gosec // our program; stopped by a signal
		command.Env = append(os.Environ(), s.environment...)
		if started.process, err = drill.Start(command, filepath.Join(s.dir, fmt.Sprintf("server-%d.log", i+1))); err != nil {
			s.stop()
			return nil, err
		}
		s.all = append(s.all, started)
	}
	for _, base := range []string{s.all[0].url, s.all[1].url, s.proxy} {
		for {
			if r, err := s.send(ctx, request{base: base, path: "/readyz"}); err == nil && r.status == http.StatusOK {
				break
			}
			if err := errors.Join(s.err(), drill.Pause(ctx, 50*time.Millisecond)); err != nil {
				s.stop()
				return nil, err
			}
		}
	}
	return s, nil
}

// createDatabase creates the role and the database through HAProxy, once that has found the primary.
func createDatabase(ctx context.Context, password string) error {
	psql, err := localpg.Program("psql")
	if err != nil {
		return err
	}
	host, port, _ := strings.Cut(proxy+postgresPort, ":")
	run := func(statement string) error {
		_, err := drill.Execute(ctx, "", []string{"PGPASSWORD=" + password}, psql, "-X", "-q", "-h", host, "-p", port, "-U", "postgres", "-c", statement)
		return err
	}
	for err := run("SELECT 1"); err != nil; err = run("SELECT 1") {
		if stopped := drill.Pause(ctx, retryPause); stopped != nil {
			return errors.Join(err, stopped)
		}
	}
	for _, statement := range []string{
		"CREATE ROLE chairside LOGIN PASSWORD '" + password + "'",
		"GRANT pg_read_all_stats TO chairside",
		"CREATE DATABASE " + database + " OWNER chairside",
	} {
		if err := run(statement); err != nil {
			return err
		}
	}
	return nil
}

// signIn returns a variable with URLs that have the password. The drill's network needs no TLS.
func signIn(name, urls, password string) (string, error) {
	var all []string
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(text)
		if err != nil {
			return "", err
		}
		u.User = url.UserPassword(u.User.Username(), password)
		query := u.Query()
		query.Set("sslmode", "disable")
		u.RawQuery = query.Encode()
		all = append(all, u.String())
	}
	return name + "=" + strings.Join(all, ","), nil
}

// command runs a command of the program on the database.
func (s *servers) command(ctx context.Context, arguments ...string) (string, error) {
	output, err := drill.Execute(ctx, "", s.environment, s.program, arguments...)
	return strings.TrimSpace(output), err
}

// newToken creates a token for a client: what one client has seen does not bind the others.
func (s *servers) newToken(ctx context.Context) (string, error) {
	return s.command(ctx, "token", "create", "--user", administrator, "--name", "drill", "--scopes", "appointment patient practice")
}

const administrator = "admin@demo.chairside.test"

// err returns an error if a server has ended.
func (s *servers) err() (err error) {
	for _, one := range s.all {
		err = errors.Join(err, one.process.Err())
	}
	return err
}

func (s *servers) stop() {
	for _, one := range s.all {
		one.process.Stop(syscall.SIGTERM)
	}
}

// replicaReads returns how many reads the replicas have answered.
func (s *servers) replicaReads(ctx context.Context) (reads int64) {
	for _, one := range s.all {
		r, err := s.send(ctx, request{base: one.url, path: "/metrics"})
		if err != nil {
			continue // the count is too low
		}
		for line := range strings.Lines(string(r.body)) {
			if strings.HasPrefix(line, "chairside_replica_reads_total{") {
				_, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
				if n, err := strconv.ParseFloat(value, 64); err == nil {
					reads += int64(n)
				}
			}
		}
	}
	return reads
}

// request is a request of a client.
type request struct {
	base, method, path, body string
	token, key, position     string
}

// response is what a server responded.
type response struct {
	status   int
	code     string // of the error; "" for none
	body     []byte
	position string
	replayed bool
}

func (s *servers) send(ctx context.Context, q request) (r response, err error) {
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	sent, err := http.NewRequestWithContext(ctx, method, q.base+q.path, strings.NewReader(q.body))
	if err != nil {
		return r, err
	}
	sent.Header.Set("User-Agent", "failover drill")
	sent.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Authorization": q.token, "Idempotency-Key": q.key, "Chairside-Position": q.position} {
		if value != "" {
			sent.Header.Set(name, value)
		}
	}
	got, err := s.client.Do(sent)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, got.Body.Close()) }()
	r = response{status: got.StatusCode, position: got.Header.Get("Chairside-Position"), replayed: got.Header.Get("Idempotency-Replayed") == "true"}
	if r.body, err = io.ReadAll(got.Body); err != nil {
		return r, err
	}
	if r.status >= http.StatusBadRequest && bytes.HasPrefix(r.body, []byte("{")) {
		var failure struct{ Error struct{ Code string } }
		if err := json.Unmarshal(r.body, &failure); err != nil {
			return r, err
		}
		r.code = failure.Error.Code
	}
	return r, nil
}
