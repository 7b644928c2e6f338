// Package localpg runs a private, throw-away PostgreSQL server for tests and
// for the developer's migration command. It is never part of the product.
//
//	server, err := localpg.Start(ctx) // about 1.5 s, once per process
//	defer server.Stop()
//	err = server.CreateDatabase(ctx, "template")
//	err = server.CreateDatabaseFrom(ctx, "test_1", "template")
//	db, err := store.Open(ctx, server.URL("test_1"))
//
// The server is found on PATH or in the places where distributions put it
// (localpg.go). It listens on a free loopback port, asks for a random password
// and, because nothing in it needs to survive, never waits for the disk.
// PostgreSQL refuses to run as root, so root runs it as the user postgres or
// nobody.
//
// StartIn (keep.go) is for a cluster that is to be found again: it keeps its
// directory and waits for the disk.
//
// Text sorts linguistically by default in it ("a" < "B" < "c"), unlike on
// SQLite: a column that was not given the collation "C" shows itself in a test.
//
// A server dies with the process that started it (process_linux.go), and a
// directory that a killed process left behind is removed by the next Start.
package localpg
