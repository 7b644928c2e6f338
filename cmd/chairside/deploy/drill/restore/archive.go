package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"chairside/internal/test/localpg"
)

// stanza is pgBackRest's name of the cluster.
const stanza = "chairside"

// configuration is pgBackRest's. A repository is best on another machine; here it is a directory.
const configuration = `[global]
repo1-path=%[1]s/repository
log-path=%[1]s/log
lock-path=%[1]s/lock
log-level-console=warn
start-fast=y
compress-type=lz4
[` + stanza + `]
pg1-path=%[2]s
pg1-socket-path=%[3]s
pg1-port=%[4]d
pg1-user=postgres
`

// archive is a pgBackRest repository.
type archive struct {
	dir, cluster, config string
}

// newArchive creates the directories, which belong to PostgreSQL's account.
func newArchive(dir string) (*archive, error) {
	a := &archive{dir: filepath.Join(dir, "archive"), cluster: filepath.Join(dir, "postgres")}
	a.config = filepath.Join(a.dir, "pgbackrest.conf")
	for _, name := range []string{"", "repository", "log", "lock"} {
		path := filepath.Join(a.dir, name)
		if err := errors.Join(os.Mkdir(path, 0o750), localpg.Own(path)); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// settings are those of a PostgreSQL server that archives. Without the configuration, which needs the
// server's port, archiving fails, and PostgreSQL tries again.
func (a *archive) settings() []string {
	return []string{"wal_level=replica", "max_wal_senders=3", "archive_mode=on", "max_connections=100",
		"archive_command=pgbackrest --config=" + a.config + " --stanza=" + stanza + " archive-push %p"}
}

// configure writes the configuration for a running server.
func (a *archive) configure(s *localpg.Server) error {
	socket, port := s.Socket()
	text := fmt.Sprintf(configuration, a.dir, filepath.Join(a.cluster, "data"), socket, port)
	return errors.Join(os.WriteFile(a.config, []byte(text), 0o600), localpg.Own(a.config))
}

// run runs pgBackRest as PostgreSQL's account: neither runs as root.
func (a *archive) run(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "pgbackrest", append([]string{"--config=" + a.config, "--stanza=" + stanza}, arguments...)...)
	command.Dir = a.dir
	if err := localpg.RunAs(command); err != nil {
		return "", err
	}
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgbackrest %s: %w\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output), nil
}

// restoreTo replaces the cluster's data by their state at a time. The server replays the archive when it
// starts, and then accepts writes.
func (a *archive) restoreTo(ctx context.Context, at time.Time) error {
	_, err := a.run(ctx, "restore", "--type=time", "--target="+at.UTC().Format("2006-01-02 15:04:05.000000+00"), "--target-action=promote")
	return err
}
