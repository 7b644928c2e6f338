package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"chairside/cmd/chairside-bench/floor"
	"chairside/cmd/chairside-bench/load"
	"chairside/internal/civil"
	"chairside/internal/report"
)

// reportSpeedCommand measures each report of a year, and SQL that a person would write for it.
type reportSpeedCommand struct {
	Size      size     `default:"2M" help:"Data size: 20k, 2M, 10M, or PATIENTSxYEARS. Default: ${default}"`
	Only      []string `placeholder:"REPORT,…" help:"Measure only these reports."`
	Rounds    int      `default:"5" help:"Rounds of two measurements of each, an odd number. Default: ${default}"`
	SQLite    bool     `name:"sqlite" help:"Measure on SQLite instead of PostgreSQL, without a ratio: the SQL is PostgreSQL's."`
	Keep      string   `placeholder:"DIR" help:"Keep and reuse the seeded databases in this directory."`
	Reseed    bool     `help:"Replace the kept databases."`
	Postgres  string   `placeholder:"URL" help:"Use this PostgreSQL server instead of a private one."`
	Chairside string   `placeholder:"FILE" help:"Program to measure. Default: built from this module."`
}

// The targets of a report.
const (
	reportSeconds       = 2   // on PostgreSQL with 2M appointments
	reportSecondsSQLite = 1   // with 20,000 patients
	reportRatio         = 0.7 // of the hand-written SQL's speed
)

// Help is the text of --help.
func (reportSpeedCommand) Help() string {
	return "Downloads each report of the year up to today as JSON, as a user does, and runs hand-written SQL for the same tables (floor/reports) on its own connection, in turn. Both must return the same rows. A report on a single day covers that day. The targets are meant for size 2M, and with --sqlite for 20000x2."
}

// Validate checks the flags; the parser calls it.
func (p *reportSpeedCommand) Validate() error {
	for _, name := range p.Only {
		if _, err := report.Find(name); err != nil {
			return fmt.Errorf("--only: %w", err)
		}
	}
	if p.Rounds < 1 || p.Rounds%2 == 0 {
		return errors.New("--rounds must be odd: the median is one of them")
	}
	return nil
}

// Run compares and measures the reports, and prints a table.
func (p *reportSpeedCommand) Run(c *console) (err error) {
	dir, err := os.MkdirTemp("", "chairside-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := (&runCommand{Chairside: p.Chairside}).build(c, dir)
	if err != nil {
		return err
	}
	k, err := openCluster(c, p.Postgres, p.Keep, program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	d, err := k.openDatabase(c, p.Size, p.Reseed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	where := d.url
	if p.SQLite {
		if where, err = k.prepareSQLite(c, p.Size, d.about.AsOf, p.Reseed); err != nil {
			return err
		}
	}
	if err := d.startChairside(c, chairside, program, where, ""); err != nil {
		return err
	}
	byHand, err := openReportFloor(c, d.url, d.practice)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, byHand.db.Close(context.WithoutCancel(c))) }()
	return p.measure(c, d, byHand)
}

// measure measures the chosen reports and prints a table.
func (p *reportSpeedCommand) measure(c *console, d *dataset, byHand *reportFloor) error {
	w := newTable(c.out, 2, 3, 4)
	header := table.Row{"report", "seconds", fmt.Sprintf("≤ %d s", reportSeconds), "hand-written SQL", "SQL ÷ report", fmt.Sprintf("≥ %g", reportRatio)}
	if p.SQLite {
		header = table.Row{"report", "seconds", fmt.Sprintf("≤ %d s", reportSecondsSQLite)}
	}
	w.AppendHeader(header)
	for i := range report.All {
		r := &report.All[i]
		if len(p.Only) > 0 && !slices.Contains(p.Only, r.Name) {
			continue
		}
		row, err := p.row(c, d, byHand, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		w.AppendRow(row)
	}
	fmt.Fprintf(c.out, "size %s, medians of %d rounds, ratios with minimum and maximum\n", p.Size.Name, p.Rounds)
	w.Render()
	return nil
}

// row compares and measures one report, and returns its line of the table. The comparison is also
// the warm-up.
func (p *reportSpeedCommand) row(c *console, d *dataset, byHand *reportFloor, r *report.Report) (table.Row, error) {
	query, err := floor.Report(r.Name)
	if err != nil {
		return nil, err
	}
	e := d.entries[0]
	browser, err := e.signIn(c) // recent enough for a download
	if err != nil {
		return nil, err
	}
	from, to := yearOf(r, d.about.AsOf)
	address := e.url + "/reports/" + r.Name + ".json?" + url.Values{"from": {from.String()}, "to": {to.String()}}.Encode()
	document, err := download(c, browser, address)
	if err != nil {
		return nil, err
	}
	if err := byHand.compare(c, query, from, to, time.Now(), document); err != nil {
		return nil, fmt.Errorf("the report and its hand-written SQL differ: %w", err)
	}
	ours := func() error { _, err := download(c, browser, address); return err }
	theirs := func() error { return byHand.run(c, query, from, to, time.Now()) }
	if p.SQLite {
		theirs = func() error { return nil }
	}
	var seconds [2][]float64
	var ratios []float64
	for round := range p.Rounds {
		var inTurn [2]float64
		for _, i := range turns {
			start := time.Now()
			if err := [2]func() error{ours, theirs}[i](); err != nil {
				return nil, err
			}
			inTurn[i] += time.Since(start).Seconds() / float64(len(turns)/len(inTurn))
		}
		for i := range seconds {
			seconds[i] = append(seconds[i], inTurn[i])
		}
		ratios = append(ratios, inTurn[1]/inTurn[0])
		c.say("round %d  %-20s %7.3f s", round+1, r.Name, inTurn[0])
	}
	took, allowed := median(seconds[0]), float64(reportSeconds)
	if p.SQLite {
		allowed = reportSecondsSQLite
	}
	row := table.Row{r.Name, fmt.Sprintf("%.3f", took), verdictText(took <= allowed)}
	if !p.SQLite {
		against := ratio{median(ratios), slices.Min(ratios), slices.Max(ratios), ratios}
		row = append(row, fmt.Sprintf("%.3f", median(seconds[1])), against.String(), verdictText(against.Median >= reportRatio))
	}
	return row, nil
}

// yearOf returns the year up to a day, or the report's own period if it shows the state of a day.
func yearOf(r *report.Report, day civil.Date) (from, to civil.Date) {
	if r.AsAt {
		return r.Period(day)
	}
	return day.AddMonths(-12).AddDays(1), day
}

// download returns the file at an address.
func download(ctx context.Context, browser *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", load.UserAgent)
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New("the report was not sent: status " + response.Status)
	}
	return body, err
}

// verdictText is what tables say of a target.
func verdictText(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
