// Package plans checks how PostgreSQL executes Chairside's statements.
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
// The proxy (proxy.go) records the statements between the two, so the server needs no
// settings, and explained statements have their real arguments. The requests come from the
// API's operations: each documented filter with several values, each order in both
// directions, and a deep page (requests.go). A statement is explained at its first and its
// sixth execution, because PostgreSQL may then switch plans (explain.go). judge.go has the
// rules for plans, exceptions.go the accepted exceptions with their reasons.
package plans
