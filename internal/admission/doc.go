// Package admission shares the connections of a pool fairly.
//
// A Gate stands in front of the pool and has one place for each connection. Work
// says in its context what it is (With): its kind, which is a family of operations
// ("patients", "reports"), and its operation. Its practice is the caller's.
//
//	ctx = admission.With(ctx, "patients", "listPatients")
//	leave, err := gate.Enter(ctx) // at most 2 s
//	defer leave()
//
// # Rules
//
//   - A practice or a kind that has half of the places gets more of them only while
//     no work below its own half waits.
//   - Even then it never gets the last ones: some are left for other kinds and other
//     practices. So work that stalls (a locked table, a slow report) leaves
//     connections for the rest even where it came first.
//   - Of the work that waits, that whose practice, kind and operation have the fewest
//     places goes first; among equals, that which has waited longest.
//   - Work waits 2 s, then it is refused.
//   - A few connections have no place: they are for readiness probes and work in the
//     background, which do not pass the gate.
//
// Work without a kind is of the kind "other", and shares its half.
package admission
