// Command shared runs a command, such as go test, with one PostgreSQL server and
// one set of template databases for all test binaries that it starts:
//
//	go run ./internal/test/shared go test ./...
//
// Without it every test binary starts a server and makes its templates itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"chairside/internal/test/localpg"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testdb"
)

func main() {
	err := run(context.Background(), os.Args[1:])
	var status *exec.ExitError
	if errors.As(err, &status) {
		os.Exit(status.ExitCode()) // the command has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run starts the server, makes the templates, and runs the command with their addresses in
// its environment.
func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("usage: shared COMMAND [ARGUMENT…]")
	}
	server, err := localpg.Start(ctx)
	if err != nil {
		return err
	}
	defer server.Stop()
	dir, err := os.MkdirTemp("", "chairside-templates-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := testdb.Share(ctx, dir, server); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), pgtest.Server+"="+server.URL("postgres"), testdb.Dir+"="+dir)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	return command.Run()
}
