package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
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
	if _, err := drill.Execute(ctx, repository, nil, "go", "run", "./internal/store/migrate/diff", "-hash"); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "chairside-newer")
	return program, drill.Build(ctx, repository, program)
}

func write(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}
