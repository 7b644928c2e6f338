package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // for machines without a time zone database

	"github.com/alecthomas/kong"
)

// commands is the grammar of the command line.
type commands struct {
	Run         runCommand         `cmd:"" default:"withargs" help:"Benchmark Chairside against the hand-written server."`
	Pair        pairCommand        `cmd:"" help:"Compare two builds of Chairside."`
	Reports     reportsCommand     `cmd:"" help:"Measure how far reports slow bookings down, on the primary and on a replica."`
	ReportSpeed reportSpeedCommand `cmd:"" help:"Measure each report against hand-written SQL for the same tables."`
	Floor       floorCommand       `cmd:"" help:"Start only the hand-written server."`
}

// console holds a command's context, which an interrupt cancels, and its streams.
type console struct {
	context.Context
	out, err io.Writer
	// floor is the command line that runs the hand-written server.
	floor []string
}

// say prints progress.
func (c *console) say(format string, args ...any) { fmt.Fprintf(c.err, format+"\n", args...) }

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// envPrefix begins the names of the flags' environment variables.
const envPrefix = "CHAIRSIDE_BENCH"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chairside-bench:", err)
		os.Exit(exitFailed)
	}
	os.Exit(run(&console{ctx, os.Stdout, os.Stderr, []string{self, "floor"}}, os.Args[1:]))
}

// run parses and runs a command line and returns the exit status.
func run(c *console, args []string) int {
	parser, err := kong.New(&commands{},
		kong.Name("chairside-bench"),
		kong.Description("Benchmarks Chairside against a hand-written server, at three data sizes."),
		kong.DefaultEnvars(envPrefix),
		kong.Writers(c.out, c.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
	)
	if err != nil {
		panic(err) // the commands struct is invalid
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(c.err, "chairside-bench: %v\nRun \"chairside-bench --help\" for usage.\n", err)
		return exitUsage
	}
	switch err := command.Run(c); {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.err, "chairside-bench: interrupted")
	default:
		fmt.Fprintf(c.err, "chairside-bench: %v\n", err)
	}
	return exitFailed
}
