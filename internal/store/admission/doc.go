// Package admission shares the connections of a pool fairly.
//
// A Gate stands in front of the pool and has one place for each connection. The
// context of a request names its kind, which is a family of operations ("patients",
// "reports"), and its operation (With). The caller names its practice.
//
//	ctx = admission.With(ctx, "patients", "listPatients")
//	leave, err := gate.Enter(ctx) // waits at most 2 s
//	defer leave()
//
// # Rules
//
//   - A practice or a kind that holds half of the places gets another one only while
//     no request below its own half waits.
//   - It never gets the last places. They are reserved for other kinds and practices,
//     so a locked table or a slow report cannot take every connection, even if it
//     came first.
//   - Of the requests that wait, the one whose practice, kind and operation hold the
//     fewest places goes first; among equals practices take turns (start-time fair queueing), then
//     the one that has waited longest.
//   - A request that has waited 2 s is refused, a report that has waited for three fifths of its time.
//   - Work that keeps processors busy for long (reports) or much in memory (batches) also takes turns
//     (NewTurns), before it waits for a connection.
//   - A few connections have no place. Readiness probes and background work use them
//     without passing the gate.
//
// Requests without a kind are of the kind "other" and share its half.
//
// # When to reach for it
//
// Package server names the kind of each request, package store has the gate. A new kind of
// work that may be slow needs a kind of its own (With).
package admission
