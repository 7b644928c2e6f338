package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"chairside/ent"
	"chairside/ent/practice"
	"chairside/internal/audit"
	"chairside/internal/audit/trail"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/config"
	"chairside/internal/durable"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/store"
)

type reportCommands struct {
	List     reportList       `cmd:"" help:"List the reports."`
	Show     reportShow       `cmd:"" default:"withargs" help:"Run a report. You can omit the word \"show\"."`
	Schedule scheduleCommands `cmd:"" help:"Run a report each week, and store or mail its file."`
}

type reportList struct{ listing }

// Run prints the reports, one per line.
func (l reportList) Run(c *console) error {
	var cells [][]any
	for _, r := range report.All {
		cells = append(cells, []any{r.Name, r.Title})
	}
	return l.print(c, []string{"NAME", "TITLE"}, cells)
}

type reportShow struct {
	config.ReportFlags
	Name string `arg:"" words:"reports" help:"Name of the report; see \"chairside report list\"."`
}

// Help is the text of --help.
func (reportShow) Help() string {
	return "Safe while the server runs. Days are in the practice's time zone. Each report ends with the definitions of its figures; \"chairside report NAME --help\" prints them with their sources."
}

// printHelp prints the help of a command, and of a report its definitions.
func printHelp(options kong.HelpOptions, at *kong.Context) error {
	of, err := helpedReport(at)
	if err != nil {
		return err
	}
	if selected := at.Selected(); selected != nil {
		options.NoAppSummary = true
		if _, err := fmt.Fprintf(at.Stdout, "Usage: %s %s\n", at.Model.Name, usageOf(selected)); err != nil {
			return err
		}
	}
	if err := kong.DefaultHelpPrinter(options, at); err != nil || of == nil {
		return err
	}
	_, err = fmt.Fprintf(at.Stdout, "\n%s: %s\n\n%s", of.Title, of.Question, render.Definitions(of, definitionsWidth))
	return err
}

// usageOf returns how to type a command, without the program's name. The name of a default command is in brackets:
// "report [show] <name>".
func usageOf(command *kong.Node) string {
	usage := command.Summary()
	if parent := command.Parent; parent != nil && parent.DefaultCmd == command {
		usage = strings.Replace(usage, command.Path(), parent.Path()+" ["+command.Name+"]", 1)
	}
	return usage
}

// helpedReport returns the report that the command names, or nil.
func helpedReport(at *kong.Context) (*report.Report, error) {
	if selected := at.Selected(); selected == nil || selected.Target.Type() != reflect.TypeFor[reportShow]() {
		return nil, nil
	}
	for _, step := range at.Path {
		if step.Positional != nil {
			name, _ := at.Value(step).Interface().(string)
			return report.Find(name)
		}
	}
	return nil, nil
}

// definitionsWidth is the width of lines of definitions.
const definitionsWidth = 100

// Validate reports every mistake in the command; the parser calls it.
func (r reportShow) Validate() error {
	var unknown error
	if r.Name != "" { // the parser reports a missing name
		_, unknown = report.Find(r.Name)
	}
	return errors.Join(unknown, r.ReportFlags.Validate())
}

// Run runs the report and writes the result.
func (r *reportShow) Run(c *console) error {
	flags, err := r.Read()
	if err != nil {
		return err
	}
	chosen, err := report.Find(r.Name)
	if err != nil {
		return err
	}
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		practice, err := c.shownPractice(db, flags.Practice)
		if err != nil {
			return err
		}
		ctx, err := c.actFor(practice)
		if err != nil {
			return err
		}
		filter := c.filter(ctx, chosen, flags)
		filter.Keys = db.Keys
		ctx, read := audit.With(ctx)
		var answer *report.Answer
		step, finish := c.stepBar(chosen.Title)
		ctx = report.WithProgress(ctx, step)
		err = db.View(ctx, func(client *ent.Client) error {
			answer, err = chosen.Ask(ctx, client, filter)
			return err
		})
		finish()
		if err != nil {
			return err
		}
		if err := c.auditedReport(ctx, db, chosen, filter, read); err != nil {
			return err
		}
		format, options := render.Format(flags.Format), render.Options{Table: flags.Table}
		if flags.Output != "" {
			return replaceFile(flags.Output, func(w io.Writer) error { return render.Write(w, answer, format, options) })
		}
		options.Width = c.width()
		return render.Write(c.out, answer, format, options)
	})
}

// auditedReport writes to the audit log that a report ran, and whose patients' data it shows.
func (c *console) auditedReport(ctx context.Context, db *store.DB, r *report.Report, f report.Filter, read *audit.Log) error {
	e := trail.Entry{Action: "report", Record: r.Name, Details: map[string]any{"from": f.From.String(), "to": f.To.String()}}
	if f.From.IsZero() || r.AsAt {
		delete(e.Details, "from")
	}
	if err := c.audited(ctx, db, e); err != nil || read.Empty() {
		return err
	}
	reads := trail.Entry{At: clock.Now(ctx), Operation: "report"}
	reads.Practice = principal.Must(ctx).PracticeID
	if err := trail.WriteRead(ctx, db, reads, read); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

// stepBar shows a progress bar on a terminal until finish is called. step sets the
// finished steps and their total; without a terminal it does nothing.
func (c *console) stepBar(what string) (step func(done, total int), finish func()) {
	file, ok := c.err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func(int, int) {}, func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(c.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
	// A failure to draw the bar does not stop the report.
	step = func(done, total int) {
		if bar.GetMax() != total {
			bar.ChangeMax(total)
		}
		_ = bar.Set(done)
	}
	return step, func() { _ = bar.Finish() }
}

// actFor returns a context for a practice.
func (c *console) actFor(p *ent.Practice) (context.Context, error) {
	zone, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("load the practice's time zone: %w", err)
	}
	return principal.With(c, &principal.Principal{PracticeID: p.ID, Zone: zone, Country: p.Country}), nil
}

// actForPractice is actFor for the practice that practice finds.
func (c *console) actForPractice(db *store.DB, name string) (context.Context, error) {
	p, err := c.practice(db, name)
	if err != nil {
		return nil, err
	}
	return c.actFor(p)
}

// practice finds a practice by its id or its short name, or the only one if name is empty. It fails with
// errNoPractice if the database has no practice, and with errSeveralPractices if it has several.
func (c *console) practice(db *store.DB, name string) (*ent.Practice, error) {
	p, several, err := c.oldestPractice(db, name)
	if err == nil && several {
		return nil, errSeveralPractices
	}
	return p, err
}

// shownPractice is practice for commands that only show something: it returns the oldest of several,
// with a note.
func (c *console) shownPractice(db *store.DB, name string) (*ent.Practice, error) {
	p, several, err := c.oldestPractice(db, name)
	if err == nil && several {
		fmt.Fprintf(c.err, "the database holds several practices: this is for %s (choose another with --practice)\n", p.Slug)
	}
	return p, err
}

// oldestPractice finds a practice by its id or its short name, or the oldest one if name is empty, and
// reports whether the database has several then.
func (c *console) oldestPractice(db *store.DB, name string) (oldest *ent.Practice, several bool, err error) {
	if name != "" {
		p, err := findPractice(c, db.Ent, name)
		return p, false, err
	}
	all, err := db.Ent.Practice.Query().Order(practice.ByCreatedAt(), practice.ByID()).Limit(2).All(principal.AsSystem(c))
	switch {
	case err != nil:
		return nil, false, err
	case len(all) == 0:
		return nil, false, errNoPractice
	}
	return all[0], len(all) > 1, nil
}

// filter limits a report as the flags say; without --from and --to it covers the
// report's default period.
func (c *console) filter(ctx context.Context, r *report.Report, flags config.Report) report.Filter {
	today := civil.Of(clock.Now(ctx).In(principal.Must(ctx).Zone))
	f := report.Filter{SiteID: flags.Site, PractitionerID: flags.Practitioner, Compare: flags.Compare, Sort: flags.Sort}
	f.From, f.To = r.Days(today, flags.From, flags.To)
	if r.AsAt && !flags.From.IsZero() {
		fmt.Fprintf(c.err, "%s shows the state at the end of a day: --from is ignored\n", r.Name)
	}
	return f
}

// width is the width of the terminal that results go to, or 0 for a file or a pipe.
func (c *console) width() int {
	out, ok := c.out.(*os.File)
	if !ok || !term.IsTerminal(int(out.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// replaceFile replaces a file atomically. Only its owner can read it: reports hold
// patients' data.
func replaceFile(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".chairside-*")
	if err != nil {
		return fmt.Errorf("create the file: %w", err)
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = durable.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // it fails if the file has its name already
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}
