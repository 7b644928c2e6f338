package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"chairside/cmd/chairside-bench/load"
	"chairside/cmd/chairside-bench/plans"
)

// offence is a statement that PostgreSQL executes in a way that will not do for
// big data, and the first of the requests that led to it.
type offence struct {
	Size      string   `json:"size"`
	Operation string   `json:"operation"`
	What      string   `json:"what"` // the filter or order
	Path      string   `json:"path"`
	Statement string   `json:"statement"`
	Offences  []string `json:"offences"`
}

// planCheck is what came of looking at all lists.
type planCheck struct {
	Requests, Statements int
	Offences             []offence
}

// checkPlans asks every list of the API for every filter and order and looks
// at how PostgreSQL executes what is sent.
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
		found, err := spy.offences(c, r, big, many, seen)
		if err != nil {
			return check, fmt.Errorf("%s: %w", r.Path, err)
		}
		check.Offences = append(check.Offences, found...)
	}
	check.Requests, check.Statements = len(requests), len(seen)
	return check, nil
}

// offences looks at what a request reads and was not seen before.
func (s *spy) offences(ctx context.Context, r plans.Request, big map[string]bool, many float64, seen map[string]bool) (all []offence, err error) {
	statements, err := s.statements(ctx, load.Request{Method: "GET", Path: r.Path})
	if err != nil {
		return nil, err
	}
	for _, statement := range statements {
		if seen[statement.Key()] {
			continue
		}
		seen[statement.Key()] = true
		executed, err := plans.Explain(ctx, s.db, statement)
		if err != nil {
			return nil, err
		}
		if found := executed.Offences(big, many); len(found) > 0 {
			all = append(all, offence{s.size.Name, r.Operation, r.What, r.Path, statement.Text, found})
		}
	}
	return all, nil
}

// print shows the offences, one a line.
func (p planCheck) print(c *console) {
	fmt.Fprintf(c.out, "\n%d requests, %d different statements, %d offences\n", p.Requests, p.Statements, len(p.Offences))
	if len(p.Offences) == 0 {
		return
	}
	w := newTable(c.out)
	w.AppendHeader(table.Row{"size", "operation", "filter or order", "statement", "offence"})
	for _, o := range p.Offences {
		kind := "rows"
		if strings.HasPrefix(strings.ToUpper(o.Statement), "SELECT COUNT") {
			kind = "count"
		} else if strings.HasPrefix(strings.ToUpper(o.Statement), "SELECT SUM") {
			kind = "sum"
		}
		w.AppendRow(table.Row{o.Size, o.Operation, o.What, kind, strings.Join(o.Offences, "; ")})
	}
	w.Render()
}
