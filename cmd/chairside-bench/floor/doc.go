// Package floor is the hand-written server that Chairside is benchmarked against: what a
// careful engineer would write for these routes with net/http and pgx.
//
//	s, err := floor.New(ctx, floor.Options{DatabaseURL: databaseURL, BaseURL: baseURL})
//	err = http.Serve(listener, s.Handler())
//
// It uses Chairside's tables and returns the same JSON, byte for byte. Like Chairside it
// requires a User-Agent, looks the token up by its SHA-256, checks the scope, and sends the
// CORS headers, X-OAuth-Scopes and an ETag. It has no rate limits, and no log, metrics or
// audit rows unless Options.EqualPromises is set.
//
//	server.go        routes, checks and responses
//	token.go         the caller
//	appointments.go  one, a list, a booking
//	book.sql         the booking: one function call with an advisory lock
//	patients.go      a list, and the search
//	invoices.go      one, with its items
//	availability.go  slots: one scan of the whole window
//	encode.go        JSON by appending
//	observe.go       log and metrics, with EqualPromises
//	reports.go       one statement per report, in the directory reports; no routes
//
// The SQL is straightforward: count(*) for totals, OFFSET for pages, each statement
// prepared once per connection. The search uses Chairside's index of keys.
package floor
