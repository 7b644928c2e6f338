package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"chairside/cmd/chairside-bench/load"
	"chairside/cmd/chairside-bench/plans"
)

// offence is a statement whose plan does not scale to large data, with the first request
// that caused it.
type offence struct {
	Size      string   `json:"size"`
	Operation string   `json:"operation"`
	What      string   `json:"what"` // the filter or order requested
	Path      string   `json:"path"`
	Kind      string   `json:"kind"` // of the statement: plans.Rows, plans.Count, …
	Statement string   `json:"statement"`
	Offences  []string `json:"offences"`
}

// planCheck is the result of checking all lists.
type planCheck struct {
	Requests, Statements int
	Offences             []offence
	Excused              []offence // exceptions, with their reasons
}

// checkPlans requests every list of the API with every filter and order, and checks how
// PostgreSQL executes the statements.
func (o *runCommand) checkPlans(c *console, d *dataset) (check planCheck, err error) {
	many := float64(plans.Many)
	big, err := plans.Big(c, d.db, many)
	if err != nil {
		return check, err
	}
	requests, err := plans.Requests(c, d.db, d.practice, d.about.AsOf)
	if err != nil {
		return check, err
	}
	spy, err := d.spy(c)
	if err != nil {
		return check, err
	}
	defer func() { err = errors.Join(err, spy.close()) }()
	seen := map[string]bool{}
	for i, r := range requests {
		if i%25 == 0 {
			c.say("plans of size %s: %d of %d requests", d.size.Name, i, len(requests))
		}
		if err := spy.judge(c, r, big, many, seen, &check); err != nil {
			return check, fmt.Errorf("%s: %w", r.Path, err)
		}
	}
	check.Requests, check.Statements = len(requests), len(seen)
	return check, nil
}

// judge checks a request's statements, except those that were seen before.
func (s *spy) judge(ctx context.Context, r plans.Request, big map[string]bool, many float64, seen map[string]bool, check *planCheck) error {
	statements, body, err := s.statements(ctx, load.Request{Method: "GET", Path: r.Path})
	if err != nil {
		return err
	}
	var list struct{ Meta struct{ Total int } }
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	for _, statement := range statements {
		if seen[statement.Key()] {
			continue
		}
		seen[statement.Key()] = true
		executed, err := plans.Explain(ctx, s.db, statement)
		if err != nil {
			return err
		}
		o := offence{s.size.Name, r.Operation, r.What, r.Path, statement.Kind(), statement.Text, nil}
		excused := o
		for _, what := range executed.Offences(big, many) {
			if reason := r.Excused(o.Kind, what, list.Meta.Total); reason != "" {
				excused.Offences = append(excused.Offences, reason)
			} else {
				o.Offences = append(o.Offences, what)
			}
		}
		if len(o.Offences) > 0 {
			check.Offences = append(check.Offences, o)
		}
		if len(excused.Offences) > 0 {
			check.Excused = append(check.Excused, excused)
		}
	}
	return nil
}

// print prints the offences, one per line.
func (p planCheck) print(c *console) {
	fmt.Fprintf(c.out, "\n%d requests, %d different statements, %d offences, %d accepted exceptions\n", p.Requests, p.Statements, len(p.Offences), len(p.Excused))
	printOffences(c, p.Offences, "offence")
	printOffences(c, p.Excused, "reason")
}

// printOffences prints a table of offences; title is the heading of their descriptions.
func printOffences(c *console, offences []offence, title string) {
	if len(offences) == 0 {
		return
	}
	w := newTable(c.out)
	w.AppendHeader(table.Row{"size", "operation", "filter or order", "statement", title})
	for _, o := range offences {
		w.AppendRow(table.Row{o.Size, o.Operation, o.What, o.Kind, strings.Join(o.Offences, "; ")})
	}
	w.Render()
}
