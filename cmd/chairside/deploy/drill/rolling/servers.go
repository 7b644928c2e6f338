package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
	"chairside/internal/test/localpg"
)

// setting is the database, the servers on it and the load balancer.
type setting struct {
	dir         string
	environment []string
	token       string
	servers     []*server
	proxy       *proxy
}

// server is one address, and the process that serves it.
type server struct {
	name    string
	address string
	process *exec.Cmd
	ended   chan error
}

// prepare creates a database with a practice, and a token for it. It starts nothing yet.
func prepare(ctx context.Context, dir string, postgres *localpg.Server, program string) (*setting, error) {
	const name = "rolling"
	if err := postgres.CreateDatabase(ctx, name); err != nil {
		return nil, err
	}
	keys := filepath.Join(dir, "keys")
	d := &setting{dir: dir, environment: []string{"CHAIRSIDE_DATABASE_URL=" + postgres.URL(name), "CHAIRSIDE_KEYS_FILE=" + keys}}
	for _, arguments := range [][]string{{"keys", "create", keys}, {"migrate", "up"}, {"seed", "--patients", "500", "--years", "1"}} {
		if err := d.command(ctx, program, arguments...); err != nil {
			return nil, err
		}
	}
	token, err := drill.Execute(ctx, "", d.environment, program, "token", "create", "--user", "admin@demo.chairside.test", "--name", "drill", "--scopes", "appointment patient practice")
	if err != nil {
		return nil, err
	}
	d.token = strings.TrimSpace(token)
	for _, name := range []string{"one", "two"} {
		address, err := drill.FreeAddress(ctx)
		if err != nil {
			return nil, err
		}
		d.servers = append(d.servers, &server{name: name, address: address})
	}
	d.proxy, err = newProxy(ctx, dir, d.servers)
	return d, err
}

// start starts the servers and the load balancer.
func (d *setting) start(ctx context.Context, program string) error {
	for _, s := range d.servers {
		if err := d.serve(s, program); err != nil {
			return err
		}
	}
	if err := d.proxy.start(); err != nil {
		return err
	}
	for _, s := range d.servers {
		if err := d.proxy.waitUp(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// command runs a command of the program on the database.
func (d *setting) command(ctx context.Context, program string, arguments ...string) error {
	_, err := drill.Execute(ctx, "", d.environment, program, arguments...)
	return err
}

// serve starts a server. Its log goes to a file.
func (d *setting) serve(s *server, program string) error {
	log, err := os.OpenFile(filepath.Join(d.dir, s.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	process := exec.Command(program, "serve", "--addr", s.address, "--drain", drain.String(), "--rate-limit", "0") //nolint:noctx // it is stopped by signals alone
	process.Env = append(os.Environ(), d.environment...)
	process.Stderr = log
	if err := process.Start(); err != nil {
		return err
	}
	s.process, s.ended = process, make(chan error, 1)
	go func(process *exec.Cmd, ended chan error) { ended <- process.Wait() }(s.process, s.ended)
	return nil
}

// restart stops a server with SIGTERM, starts a program in its place and waits until the load
// balancer calls it UP.
func (d *setting) restart(ctx context.Context, s *server, program string) (t times, err error) {
	began := time.Now()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return t, err
	}
	select {
	case err = <-s.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return t, fmt.Errorf("stop: %w", err)
	}
	t.stopped = time.Since(began)
	began = time.Now()
	if err := d.serve(s, program); err != nil {
		return t, err
	}
	err = d.proxy.waitUp(ctx, s)
	t.back = time.Since(began)
	return t, err
}

// stop ends all processes.
func (d *setting) stop() (err error) {
	for _, s := range d.servers {
		if s.process != nil && s.process.ProcessState == nil {
			_ = s.process.Process.Kill() // fails if it has ended
			if ended, killed := <-s.ended, (*exec.ExitError)(nil); !errors.As(ended, &killed) {
				err = errors.Join(err, ended)
			}
		}
	}
	return errors.Join(err, d.proxy.stop())
}
