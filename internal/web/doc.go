// Package web serves the HTML pages: sign-in, consent, settings and reports. Forms
// work without JavaScript, except those of passkeys, which stay hidden. There is no
// build step, and all files are embedded.
//
// How a request is served, file by file:
//
//	server.visit   User-Agent, a time limit (package server mounts Routes)
//	   │
//	   ▼
//	routes.go      the pages: path, GET action, POST action, permission level
//	   │
//	   ▼
//	serve.go       headers.go: policy, framing, caching ─▶ method (405)
//	   │           ─▶ cross-site forms (403) ─▶ session ─▶ visitor (303 to
//	   │           /sign-in), permission level (403) ─▶ body (413)
//	   ▼
//	one file       sign_in.go, tokens.go, …: one action each, which calls
//	per action     packages signin, oauth and token, and returns an error or …
//	   │
//	   ├─▶ render.go    a template in the layout; words.go: times, browsers
//	   ├─▶ redirect     303, with ?done= for a confirmation message
//	   └─▶ problem.go   the error page: request id, never the cause
//
// How a report is served:
//
//	report.go             finds the report, checks access (403) ─▶ store.DB.View
//	report_question.go    parses the query into a report.Filter (422)
//	report_choices.go     the sites and practitioners that the form offers
//	report_periods.go     links to common periods
//	report_page.go        the page; reports that run in steps stream a progress bar
//	report_file.go        the report as CSV or JSON; package report renders the
//	                      HTML below the form, and its style
//
// How the diary is served:
//
//	diary.go              the page: the form, the role (403), the links to other days
//	diary_timeline.go     lays a day out: rows on the clock axis, lanes, double bookings
//	diary_week.go         the booked share of each practitioner's days
//	diary_style.go        classes for positions, because the policy forbids style attributes
//
// How the developer pages are served:
//
//	requests.go           the request log of package audit/trail, errors first; the rate limit
//	scopes.go             the matrix of scopes for tokens and applications: those that open an
//	                      operation of the OpenAPI document
//	record_kinds.go       the resources, filters and links of the record browser, from the document
//	records.go            the index and the list ─▶ Options.Read: the API itself, as the visitor
//	record.go             one record, its links, and the command that reads it
//
// How a passkey is used or added:
//
//	assets/passkey.js     asks for a challenge, then the browser's authenticator, and
//	   │                  sends its response in the form
//	   ├─▶ passkey_options.go   the challenge as JSON; package signin stores it
//	   └─▶ sign_in.go, sign_in_code.go, confirm.go, passkeys.go   the response
//
// Rules:
//
//   - A secret is rendered only in the response to the POST that generated it. No
//     redirect or session holds it.
//   - next.go: redirects lead only to paths of this server. Package oauth is the
//     only source of other addresses.
//   - Rows are read in the visitor's context, which is confined to the practice.
//     The visitor's own rows need one more condition, on the user.
//   - An invalid form is shown again with status 422, the values entered, and each
//     message beside its field (form.go). Passwords are never sent back.
package web
