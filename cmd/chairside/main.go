package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // for machines without a time zone database

	"github.com/alecthomas/kong"

	"chairside/internal/config"
	"chairside/internal/importer"
	"chairside/internal/report"
	"chairside/internal/scope"
	"chairside/internal/store"
)

// commands is the grammar of the command line.
type commands struct {
	Serve    serveCommand     `cmd:"" help:"Start the server."`
	Migrate  migrateCommands  `cmd:"" help:"Apply, list and verify database migrations."`
	Database databaseCommands `cmd:"" help:"Set up the roles of a PostgreSQL database."`
	Doctor   doctorCommand    `cmd:"" help:"Check that a database is set up correctly."`
	Counters countersCommands `cmd:"" help:"Check and repair the totals that lists show."`
	Seed     seedCommand      `cmd:"" help:"Fill a database with two demo practices."`
	Practice practiceCommands `cmd:"" help:"Create practices and set their rules."`
	User     userCommands     `cmd:"" help:"Manage users."`
	Token    tokenCommands    `cmd:"" help:"Manage access tokens."`
	App      appCommands      `cmd:"" help:"Manage OAuth applications."`
	Webhook  webhookCommands  `cmd:"" help:"Manage webhooks."`
	Report   reportCommands   `cmd:"" help:"Run reports."`
	Analyst  analystCommands  `cmd:"" help:"Manage the roles of analysts, who read a PostgreSQL database with SQL."`
	SQL      sqlCommand       `cmd:"" name:"sql" help:"Open psql or sqlite3 with the views for analysts."`
	Subject  subjectCommands  `cmd:"" help:"Answer patients' requests about their data."`
	Export   exportCommand    `cmd:"" help:"Export all data to files."`
	Extract  extractCommand   `cmd:"" help:"Write a practice's records, and each night their changes, to files for other programs."`
	API      apiCommand       `cmd:"" name:"api" help:"Send a request to a server's API."`
	Listen   listenCommand    `cmd:"" help:"Send the changes of a server's records to a local URL, as a webhook would."`
	MCP      mcpCommand       `cmd:"" name:"mcp" help:"Serve an AI assistant over standard input and output (MCP)."`
	Import   importCommand    `cmd:"" help:"Import an export, or CSV files from another system."`
	Mapping  mappingCommand   `cmd:"" help:"List the ready mappings of other systems' files, or print one."`
	Backup   backupCommand    `cmd:"" help:"Copy an embedded database while it is in use."`
	Restore  restoreCommand   `cmd:"" help:"Put a copy in the place of an embedded database."`

	RestoreCheck restoreCheckCommand `cmd:"" help:"Check whether a copy or a restored database is whole."`

	Audit   auditCommands  `cmd:"" help:"Verify, list and prune the audit log."`
	Keys    keysCommands   `cmd:"" help:"Manage the keys of sealed columns in the database."`
	Version versionCommand `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
}

// console holds a command's context, which an interrupt cancels, and its streams.
type console struct {
	context.Context
	in       *os.File
	out, err io.Writer
}

// The exit statuses of every command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const description = `Chairside is a dental practice management server with a JSON API.

Every flag can also be set by an environment variable: --database-url by CHAIRSIDE_DATABASE_URL.

Try it:  chairside serve --demo`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(&console{ctx, os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// packageName matches the Go package's name that begins a message for developers.
var packageName = regexp.MustCompile(`(?m)^(admission|audit|chain|civil|clock|closure|codec|decimal|ent|extract|feed|guides|idempotency|lint|migrate|ogen|principal|report|rowscan|rowsecurity|schedule|schema|seal|seed|server|signin|store|subject|web|webhook|write): `)

// variables are the values that help texts name and completion offers.
func variables() kong.Vars {
	var reports []string
	for _, r := range report.All {
		reports = append(reports, r.Name)
	}
	return kong.Vars{
		"roles": config.Roles(), "scopes": strings.Join(scope.Families, ", "), "actions": config.Actions(), "mappings": importer.ReadyNames(),
		"reports": strings.Join(reports, ", "),
	}
}

// run parses and runs a command line and returns the exit status.
func run(c *console, args []string) int {
	parser, err := kong.New(&commands{},
		kong.Name("chairside"),
		kong.Description(description),
		kong.DefaultEnvars(config.EnvPrefix),
		kong.Writers(c.out, c.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Help(printHelp),
		variables(),
	)
	if err != nil {
		panic(err) // the commands struct is invalid
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		args[0] = "version"
	case args[0] == completeWord:
		complete(c.out, parser.Model, args[1:])
		return exitOK
	}
	command, err := parser.Parse(args)
	if err != nil {
		var wrong *kong.ParseError
		if errors.As(err, &wrong) {
			return misuse(c.err, err, wrong.Context)
		}
		return misuse(c.err, err, nil)
	}
	switch err := onReplica(c, command.Run(c), command); {
	case err == nil:
		return exitOK
	case errors.As(err, new(config.Mistakes)):
		return misuse(c.err, err, command)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.err, "chairside: interrupted")
	case errors.Is(err, store.ErrReplica):
		fmt.Fprintf(c.err, "chairside: %v: %s\n", store.ErrReplica, replicaRemedy)
	case store.Denied(err) != "":
		fmt.Fprintf(c.err, "chairside: %s\n", denied(store.Denied(err), command))
	default:
		fmt.Fprintf(c.err, "chairside: %s\n", packageName.ReplaceAllString(err.Error(), ""))
	}
	return exitFailed
}
