// Command chairside-bench measures how fast Chairside is beside a server that
// was written by hand for the same routes (package floor), and how that
// changes as the data grow.
//
//	go run ./cmd/chairside-bench --keep /var/tmp/bench              all sizes, 5 rounds: an hour and more
//	go run ./cmd/chairside-bench --keep /var/tmp/bench --sizes 2M   the size that the targets speak of
//	go run ./cmd/chairside-bench --sizes 20k --rounds 3 --duration 2s --fresh 5000
//	go run ./cmd/chairside-bench --check --keep /var/tmp/bench --sizes 2M
//
// It needs the Go toolchain, PostgreSQL, and, if it is there, wrk; it is run
// within this module. It starts a PostgreSQL server of its own (cluster.go
// has its settings: what is committed is on the disk), or uses --postgres.
// With --keep the seeded databases are found again the next time; each run
// works on a copy, so there must be room for each size twice. Without, a run
// works on what it has seeded.
//
// What happens, file by file:
//
//	runcommand.go  the flags, and the order of all that follows
//	cluster.go     PostgreSQL; seeded databases and their copies; SQLite's too
//	size.go        how many patients and years make 20k, 2M and 10M appointments
//	telephone.go   numbers that the seed does not have
//	dataset.go     one size: its database, and the servers on it, each a process
//	server.go      starting and stopping a process
//	equal.go       all servers give the same answers, or nothing is measured
//	workload.go    W1 to W9: their requests and targets
//	measure.go     rounds: each workload on each server in turn, so that what
//	               else happens on the machine happens to all of them
//	usage.go       processor time and memory of a process, from /proc
//	fresh.go       many bookings without autovacuum: what they do to W2 and W8
//	result.go, verdict.go, table.go
//	               the figures, the targets, and how they are shown
//	check.go, spy.go
//	               --check: every list, filter and order of the API, and how
//	               PostgreSQL executes it (package plans)
//	load/          what sends the requests: wrk, or a generator of our own
//
// # Reading the result
//
// Ratios are of rates: Chairside's to the hand-written server's in the same
// round; the table shows the median of the rounds and, in brackets, the least
// and the most. Rates and latencies by themselves say something about the
// machine; ratios can be compared. Where least and most lie far apart, the
// machine was busy with something else: measure again, with more rounds.
//
// PostgreSQL serves both servers, so its memory is warm for both. Its
// processor time is that of all its processes, autovacuum included. Latencies
// are those of a client that sends its next request when the last is answered.
// Where wrk measures the rate, the generator of our own measures them after it,
// for half as long (package load says why). Where wrk gets fewer than 20 answers
// for each client, that generator measures the rate anew, for the whole time. On
// a small machine the generator, the server and PostgreSQL share processors.
//
// The totals of a list are counted by the hand-written server with count(*).
// It asks for the token, and W7 for working hours, with each request, where
// Chairside remembers both for less than a second. It writes no audit rows, no
// log and no metrics, and has no rate limits; triggers that are not foreign keys' do not
// fire for its bookings, because it must not pay for Chairside's counters.
//
// A second hand-written server keeps equal promises (floor --equal): it also writes the
// audit row of each booking, fires the counters' triggers, logs each request to
// /dev/null, as Chairside does, and counts and times it. W5 is judged against that one.
//
// All collect garbage as chairside serve does. What a hand-written server books is
// removed after each measurement.
//
// The patients are the seed's, but each with a mobile number of their own
// (telephone.go), which W9 searches for.
//
// W3 asks for pages 1 to 10 in turn, W4 for pages 991 to 1000, or for the last ten of a
// smaller database. Without autovacuum, Chairside still vacuums its two small tables of
// totals itself; the hand-written server has no such tables. W8
// asks for what has changed since a time after which there are 100 to 1,000
// changes. SQLite is measured at the smallest size.
package main
