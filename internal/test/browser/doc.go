// Package browser tests the pages in Debian's headless Chromium: with mouse, keyboard,
// phone sizes, the accessibility tree, and without JavaScript.
//
//	server of harness    ◀── HTTP ── Chromium ◀── protocol ── a test
//
// Tests find elements by role and accessible name, so an element without a correct name
// cannot be used. Console errors, exceptions and violations of the
// Content-Security-Policy fail a test.
//
//	main_test.go      starts and stops Chromium
//	tab_test.go       one tab in its own browser: visit, wait, console
//	hand_test.go      click, fill in, choose, press keys
//	pages_test.go     the table of all pages and their states
//	practice_test.go  the data that the table's pages show
//	look_test.go      every page of the table: screenshots in two sizes and two
//	                  colour schemes, overflow, sizes, headers, axe-core
//	*_test.go         journeys: sign in, connect an application, tokens, …
//
// To add a page, add a line to pages_test.go. TestEveryRouteIsInTheTable fails for a
// route without a page there.
//
// To keep the screenshots, in OUTPUT/_artifacts:
//
//	go test ./internal/test/browser -run TestPages -artifacts -outputdir OUTPUT
package browser
