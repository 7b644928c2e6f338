package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// newerMigrations are what the newer program adds: a column as the rules for migrations want it
// (nullable first, then filled outside a transaction), and an index.
var newerMigrations = map[string]string{
	"29990101000001_drill_column.sql": "ALTER TABLE appointments ADD COLUMN drill boolean NULL;\n",
	"29990101000002_drill_fill.sql": `-- atlas:txmode none

UPDATE appointments SET drill = false WHERE drill IS NULL AND id % 2 = 0;
CREATE INDEX CONCURRENTLY appointments_drill ON appointments (practice_id, updated_at, drill);
`,
}

// build builds the program of a repository.
func build(ctx context.Context, repository, program string) error {
	return execute(ctx, repository, nil, "go", "build", "-o", program, "./cmd/chairside")
}

// buildNewer builds a program with newerMigrations, from a copy of the repository.
func buildNewer(ctx context.Context, dir string) (program string, err error) {
	repository := filepath.Join(dir, "newer")
	files, err := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return "", fmt.Errorf("list the repository's files: %w", err)
	}
	for _, name := range strings.Fields(string(files)) {
		content, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // deleted, but not yet committed
		}
		if err != nil {
			return "", err
		}
		if err := write(filepath.Join(repository, name), content); err != nil {
			return "", err
		}
	}
	for name, text := range newerMigrations {
		if err := write(filepath.Join(repository, "internal/store/migrate/migrations/postgres", name), []byte(text)); err != nil {
			return "", err
		}
	}
	if err := execute(ctx, repository, nil, "go", "run", "./internal/store/migrate/diff", "-hash"); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "chairside-newer")
	return program, build(ctx, repository, program)
}

func write(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}

// execute runs a program in a directory; an error has its output.
func execute(ctx context.Context, dir string, environment []string, name string, arguments ...string) error {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), environment...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(arguments, " "), err, output)
	}
	return nil
}
