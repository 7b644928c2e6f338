// Package report answers questions about a practice: what came in, what is
// owed, how full the diary is.
//
//	r, err := report.Find("income")
//	err = db.View(ctx, func(client *ent.Client) error {      // one state of the database
//		answer, err = r.Ask(ctx, client, report.Filter{From: from, To: to})
//		return err
//	})
//	err = render.Write(os.Stdout, answer, render.Table, 120) // or CSV, JSON, HTML
//	html, err := render.Fragment(answer, 500)                // for a page of package web
//
// ctx carries the caller (package principal): every query is confined to the caller's
// practice, and to the caller's site where there is one. Days are the practice's own.
// Nothing here knows HTTP or HTML, and nothing writes.
//
// # From question to page
//
//	report.go     the list of reports; what a report and its result are
//	   ▼
//	answer.go     Ask: checks the filter, runs the report, adds the names
//	   │   filter.go, period.go   what the question may be limited to, and its usual period
//	   ▼
//	income.go, …  one report each: a function that returns typed rows, what it counts, in the
//	   │          words that people read beneath it, and the Sections that show the rows; a
//	   │          file _layout.go beside it where the sections take room
//	   │   query.go, rota.go, claim_date.go   what several reports query
//	   │   progress.go                        how far a report is that works in steps
//	   │   value.go, chart.go                 the kinds of values, the data of a chart
//	   ▼
//	Answer ──▶ package render: terminal, CSV, JSON, HTML, charts
//
// The functions of the reports (Income, AgedDebt, …) are for programs that want
// numbers rather than pages. They use the generated client: predicates,
// aggregates, and modifiers for the joins and sums that Ent cannot express.
// Other programs ask questions of their own through package schema/ask, which
// has an example.
//
// # Add a report
//
// Write one file with a Report and add it to All. Its page, charts, files and command follow.
package report
