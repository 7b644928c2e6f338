// Package report answers questions about a practice: what came in, what is
// owed, how full the diary is.
//
//	r, err := report.Find("income")
//	err = db.View(ctx, func(client *ent.Client) error {      // one state of the database
//		answer, err = r.Ask(ctx, client, report.Filter{From: from, To: to, Keys: keys})
//		return err
//	})
//	err = render.Write(os.Stdout, answer, render.Table, render.Options{Width: 120}) // or CSV, XLSX, JSON, HTML
//	html, err := render.Fragment(answer, 500, links)                                // for a page of package web
//
// ctx carries the caller (package principal): every query is confined to the caller's
// practice, and to the caller's site if the caller has one. Days are calendar days in
// the practice's time zone. The package knows neither HTTP nor HTML, and never writes.
//
// # From question to page
//
//	report.go     the register of reports; the types Report, Result and Section
//	   ▼
//	answer.go     Ask: checks the filter, runs the report, looks up the names in its heading
//	   │   filter.go, period.go   how a report is narrowed, and its default period
//	   ▼
//	income.go, …  one file per report: a function that returns typed rows, the definitions of
//	   │          its terms, and the Sections that show the rows. Long layouts are in a
//	   │          file of their own (income_layout.go).
//	   │   query.go, rota.go, claim_date.go   queries that several reports share
//	   │   progress.go                        progress of reports that run in steps
//	   │   value.go, chart.go                 kinds of values, data of a chart
//	   │   locale.go                          numbers as the practice's country writes them
//	   │   before.go, sort.go                 the period before, the order of tables
//	   │   records.go, income_records.go, …   the records behind each figure
//	   │   breakdown.go                       tables that add up the records by some columns
//	   ▼
//	Answer ──▶ package render: terminal, CSV, JSON, HTML, charts
//
// Package schedule runs a report each week, and stores or mails its file.
//
// The function of each report (Income, AgedDebt, …) is for programs that want
// numbers rather than pages. It uses the generated client: predicates,
// aggregates, and modifiers for the joins and sums that Ent cannot express.
// Programs outside this module query a practice through package schema/ask. Its Group adds up
// rows over references to other tables, by the practice's days; no_shows.go uses it.
//
// # Add a report
//
// Write one file that registers a Report. The page, charts, files and command follow from it.
// A report that only adds up records, such as no_shows.go, needs a function that reads them and
// a breakdown for each table. A function that uses the report's own Records cannot be their Read
// ("initialization cycle"): add it with readBy where the report registers.
// "go test ./internal/report -run 'Golden|Guide' -update" writes its golden files and its row in
// the guide.
package report
