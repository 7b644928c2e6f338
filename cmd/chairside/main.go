package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	_ "time/tzdata" // practices' time zones, on machines that have none

	"github.com/alecthomas/kong"

	"chairside/internal/config"
	"chairside/internal/scope"
)

// commands is the grammar of the command line.
type commands struct {
	Serve    serveCommand     `cmd:"" help:"Answer API requests."`
	Migrate  migrateCommands  `cmd:"" help:"Bring the database to the form this program needs."`
	Counters countersCommands `cmd:"" help:"Check the totals that lists show."`
	Seed     seedCommand      `cmd:"" help:"Fill a database with a made-up practice, and a second small one."`
	Practice practiceCommands `cmd:"" help:"Set up practices."`
	User     userCommands     `cmd:"" help:"Add and look after users."`
	Token    tokenCommands    `cmd:"" help:"Make and revoke personal access tokens."`
	App      appCommands      `cmd:"" help:"Register and remove applications that act for users."`
	Report   reportCommands   `cmd:"" help:"Ask what the practice's records come to."`
	Export   exportCommand    `cmd:"" help:"Write everything into files, to move to another database."`
	Import   importCommand    `cmd:"" help:"Read an export, or the CSV files of another system."`
	Backup   backupCommand    `cmd:"" help:"Copy an embedded database while it is in use."`
	Version  versionCommand   `cmd:"" help:"Print the version."`
}

// console is where a command runs: its context, which ends with an interrupt,
// and its streams.
type console struct {
	context.Context
	in       *os.File
	out, err io.Writer
}

// Exit statuses (behaviour.md section 8).
const (
	done   = 0
	failed = 1
	misled = 2 // wrong usage
)

const description = `Chairside is a dental practice server with a JSON API.

Every flag is also read from an environment variable: --database-url from CHAIRSIDE_DATABASE_URL, and so on.

Try it:  chairside serve --demo`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(&console{ctx, os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// credentials are what stands before the host of an address that somebody typed in
// the wrong place.
var credentials = regexp.MustCompile(`://[^\s/@]*@`)

// run parses and runs one command line and gives the exit status.
func run(c *console, args []string) int {
	parser, err := kong.New(&commands{},
		kong.Name("chairside"),
		kong.Description(description),
		kong.DefaultEnvars(config.EnvPrefix),
		kong.Writers(c.out, c.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Vars{"roles": config.Roles(), "scopes": strings.Join(scope.Families, ", ")},
	)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	misuse := func(err error) int {
		message := credentials.ReplaceAllString(err.Error(), "://…@")
		fmt.Fprintf(c.err, "chairside: %s\nRun \"chairside --help\" to see what there is.\n", message)
		return misled
	}
	command, err := parser.Parse(args)
	if err != nil {
		return misuse(err)
	}
	switch err := command.Run(c); {
	case err == nil:
		return done
	case errors.As(err, new(config.Mistakes)):
		return misuse(err)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.err, "chairside: interrupted")
	default:
		fmt.Fprintf(c.err, "chairside: %v\n", err)
	}
	return failed
}
