// Package browser uses the pages as people do: with a mouse, a keyboard, a
// phone, a screen reader's view of the page, or without JavaScript, in Debian's
// headless Chromium.
//
//	server of harness    ◀── HTTP ── Chromium ◀── protocol ── a test
//
// Tests find what they click and fill in by its role and name, as a screen
// reader announces it: what has no name, or another one than the page tells,
// cannot be used here either. All of them watch the console: an error, an
// exception or a violation of the Content-Security-Policy fails the test.
//
//	main_test.go      starts and stops Chromium
//	tab_test.go       one tab in a browser of its own: visit, wait, console
//	hand_test.go      click, fill in, choose, press keys
//	pages_test.go     the table of all pages and their states
//	practice_test.go  the data that the table's pages show
//	look_test.go      every page of the table: screenshots in two sizes and two
//	                  colour schemes, overflow, sizes, headers, axe-core
//	*_test.go         journeys: sign in, connect an application, tokens, …
//
// A page is added with one line in pages_test.go; a route without a page there
// fails TestEveryRouteIsInTheTable.
//
// Screenshots are test output. This keeps them, in OUTPUT/_artifacts:
//
//	go test ./internal/test/browser -run TestPages -artifacts -outputdir OUTPUT
package browser
