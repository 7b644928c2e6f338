// Package plans finds out how PostgreSQL executes what Chairside sends.
//
//	proxy, err := plans.Listen(address of PostgreSQL)
//	// run Chairside on a database address that names the proxy
//	requests, err := plans.Requests(ctx, db, practice, asOf)
//	// for each request: send it, then
//	for _, s := range proxy.Take() {
//		executed, err := plans.Explain(ctx, db, s)
//		offences := executed.Offences(big, plans.Many)
//	}
//
// The proxy stands between the two (proxy.go) and reads along, so nothing has
// to be set at the server, and what is explained is what was sent, arguments
// included. The requests are made from the operations of the API: each
// documented filter with several values, each order in both directions, and a
// deep page (requests.go). A statement is explained the first time and the
// sixth, because PostgreSQL may have made another plan by then (explain.go).
// What is wrong with a plan is decided in judge.go; what is wrong and has a
// reason is in exceptions.go.
package plans
