// Package render writes the answers of reports: for terminals, spreadsheets, programs and
// browsers.
//
//	err = render.Write(os.Stdout, answer, render.Table, render.Options{Width: 120}) // or CSV, XLSX, JSON, HTML
//	html, err := render.Fragment(answer, 500, links)                                // for a page of package web
//
//	report.Answer ─▶ Write   render.go   CSV, JSON
//	                   ├──▶  xlsx.go     a workbook with all tables
//	                   ├──▶  table.go    terminals: columns that fit the width
//	                   └──▶  html.go     report.html, report.css: a page on screen and on paper
//	                           └──▶ chart.go   charts, as SVG
//
// The package knows kinds of values, sections and charts, but no particular report: a new
// report needs no change here. All texts of values come from report.Locale, number formats of
// workbooks too.
//
// # What the formats hold
//
// JSON is one object: report, practice, as_at or from and to, site_id, practitioner_id,
// currency, summary, before in a comparison, and each section of the report under its key as
// an array of objects. Money, units and percentages are strings with two decimals, minutes and counts are numbers,
// days are YYYY-MM-DD, months YYYY-MM.
//
// CSV (RFC 4180) is one table: a section and the sections that continue it, with one header
// row and no totals. Numbers have no separators; their unit is in the header
// (invoiced_gbp, share_percent). An apostrophe is put before text that a spreadsheet would
// take for a formula, but not before telephone numbers.
//
// HTML is a self-contained page without scripts, for screen and paper. A terminal table
// hides columns that do not fit, and lists them below.
package render
