// Package floor is the server that Chairside is measured against: what a
// careful engineer writes by hand for these few routes, with net/http and pgx.
//
//	s, err := floor.New(ctx, floor.Options{DatabaseURL: databaseURL, BaseURL: baseURL})
//	err = http.Serve(listener, s.Handler())
//
// It works on Chairside's own tables and gives the same JSON, byte for byte.
// Each request does what Chairside's does around the answer: it asks for a
// User-Agent, looks the token up by its SHA-256, checks the scope, and sends
// the CORS headers, X-OAuth-Scopes and an ETag. It has no rate limits, and unless
// Options.EqualPromises asks for them no log, no metrics and no audit rows.
//
//	server.go        routes, the checks before them, what is sent
//	token.go         who is calling
//	appointments.go  one, a list, a booking
//	book.sql         the booking: one function call with an advisory lock
//	patients.go      a list, and the search
//	invoices.go      one, with its items
//	availability.go  free periods: one scan of the whole window
//	encode.go        JSON by appending
//	observe.go       log and metrics, with EqualPromises
//
// The SQL is the natural one: count(*) for totals, OFFSET for pages, each
// statement prepared once per connection. The search asks Chairside's index of keys.
package floor
