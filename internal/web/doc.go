// Package web draws the pages that people see: sign-in, consent, the settings of
// an integrator, and reports. Forms work without JavaScript, nothing is built,
// and all files are embedded.
//
// A request's way, file by file:
//
//	server.visit   User-Agent, a time limit (package server mounts Routes)
//	   │
//	   ▼
//	routes.go      the pages: path, what GET does, what POST does, for whom
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
//	   ├─▶ redirect     303, with ?done= where there is something to tell
//	   └─▶ problem.go   the page that an error becomes: request id, no cause
//
// A report's way, from the action on:
//
//	report.go             which one, for whom (403) ─▶ store.DB.View
//	report_question.go    the address ─▶ report.Filter, or what is wrong with it (422)
//	report_choices.go     the sites and practitioners that the form offers
//	report_periods.go     links to the periods that people mostly want
//	report_page.go        the page, begun early where the report works in steps,
//	                      with a bar for each
//	report_file.go        the answer as CSV or JSON; as a page, package report
//	                      draws all that stands under the form, and its style
//
// Rules that are easy to break:
//
//   - A secret is rendered in the answer to the POST that made it, and nowhere
//     else: no redirect carries it, no session keeps it.
//   - next.go: a browser is sent only to paths of this server. Package oauth
//     alone knows other addresses.
//   - What is shown of rows is read in the visitor's context, which is confined
//     to the practice; "mine" is one more condition, on the user.
//   - A form that is wrong comes back with 422, what was typed, and each message
//     beside its field (form.go). Passwords are never sent back.
package web
