// Package report answers questions about a practice: what came in, what is
// owed, how full the diary is.
//
//	r, err := report.Find("income")
//	err = db.View(ctx, func(client *ent.Client) error {      // one state of the database
//		answer, err = r.Ask(ctx, client, report.Filter{From: from, To: to})
//		return err
//	})
//	err = answer.Write(os.Stdout, report.AsTable, 120)       // or AsCSV, AsJSON, AsHTML
//	html, err := answer.Fragment()                           // for a page of package web
//
// ctx carries the caller (package caller): every query is confined to the
// caller's practice, and to the caller's site where there is one. Days are the
// practice's own. Nothing here knows HTTP, and nothing writes.
//
// # From question to page
//
//	report.go     the list of reports; what a report and its result are
//	answer.go     Ask: checks the filter, runs the report, adds the names
//	income.go, …  a report each: a function that returns typed rows, and what
//	              it counts, in the words that people read beneath it; a file
//	              _layout.go beside it where laying the rows out takes room
//	progress.go   how far a report is that works in steps
//	query.go      names, and SQL that several reports share
//	rota.go       who works when and where
//	value.go      how each kind of value is written
//	render*.go    Write: table (terminal), CSV, JSON, HTML
//	chart*.go     drawings, as SVG
//
// The functions of the reports (Income, AgedDebt, …) are for programs that want
// numbers rather than pages. They use the generated client: predicates,
// aggregates, and modifiers for the joins and sums that Ent has no words for.
// Other programs ask questions of their own through package schema/ask, which
// has an example.
//
// # What the formats hold
//
// JSON is one object: report, practice, as_at or from and to, site_id,
// practitioner_id, summary, and each section of the report under its key as an
// array of objects. Money, units and percentages are strings with two decimals,
// minutes and counts are numbers, days are YYYY-MM-DD, months YYYY-MM.
//
// CSV (RFC 4180) is the first section, with those after it that go on with the
// same table, with one header row and no sum, because a spreadsheet wants one.
// Text that would be taken for a formula has an apostrophe before it.
//
// HTML is one page that needs nothing beside itself, without scripts, made for
// paper as well. A table shows what fits the terminal, and says what does not.
package report
