// Command chairside-bench benchmarks Chairside against a hand-written server with the same
// routes (package floor), at three data sizes.
//
//	go run ./cmd/chairside-bench --keep /var/tmp/bench              all sizes, 5 rounds: over an hour
//	go run ./cmd/chairside-bench --keep /var/tmp/bench --sizes 2M   the size of the targets
//	go run ./cmd/chairside-bench --sizes 20k --rounds 3 --duration 2s --fresh 5000
//	go run ./cmd/chairside-bench --check --keep /var/tmp/bench --sizes 2M
//	go run ./cmd/chairside-bench reports --keep /var/tmp/bench
//	go run ./cmd/chairside-bench report-speed --keep /var/tmp/bench
//
// Run it within this module. It needs the Go toolchain and PostgreSQL, and uses wrk if
// installed. It starts its own PostgreSQL server (settings in cluster.go; commits reach the
// disk), or uses --postgres. --keep keeps the seeded databases for the next run; each run
// then works on a copy, so there must be room for each size twice.
//
// File by file:
//
//	runcommand.go  the flags and the steps
//	cluster.go     PostgreSQL; seeded databases and their copies, also for SQLite
//	size.go        patients and years for 20k, 2M and 10M appointments
//	telephone.go   a distinct mobile number for each patient
//	dataset.go     one size: its database and its servers, each a process
//	server.go      starting and stopping a process
//	equal.go       checks that all servers give the same responses
//	workload.go    W1 to W10: requests and targets
//	reports.go     loads in the background: users who show a report, a busy loop
//	reportscommand.go
//	               bookings under such a load, on the primary and on a replica
//	reportspeedcommand.go, reportrows.go
//	               report-speed: each report, and SQL that was written by hand for it
//	measure.go     rounds: each workload on each server in turn, so that other load on
//	               the machine affects all of them
//	usage.go       processor time and memory of a process, from /proc
//	fresh.go       the effect of many bookings without autovacuum on W2 and W8
//	result.go, verdict.go, table.go
//	               results, targets and output
//	check.go, spy.go
//	               --check: how PostgreSQL executes every list, filter and order of the
//	               API (package plans)
//	load/          load generators: wrk, or our own
//
// # Reading the result
//
// A ratio is Chairside's rate divided by the hand-written server's in the same round. The
// table shows the median, and in brackets the minimum and maximum. Compare ratios; rates and
// latencies depend on the machine. If minimum and maximum are far apart, the machine was
// busy: measure again with more rounds.
//
// Both servers use one PostgreSQL, so its memory is warm for both. Its processor time
// includes all its processes, autovacuum too. Latencies are those of a client that sends
// its next request after the last response. If wrk measures the rate, our own generator
// measures latencies afterwards, for half as long (package load explains why). If wrk gets
// fewer than 20 responses per client, our generator measures the rate again. On a small
// machine the generator, the server and PostgreSQL share processors.
//
// The hand-written server counts totals with count(*). It queries the token, and W7 the
// working hours, for each request; Chairside caches both for less than a second. It writes
// no audit rows, no log and no metrics, and has no rate limits. The counters' triggers do
// not fire for its bookings.
//
// A second hand-written server (floor --equal) makes equal promises: it also writes the
// audit row of each booking, fires the counters' triggers, logs each request to /dev/null
// like Chairside, and counts and times it. W5 is judged against it.
//
// All use the garbage collector settings of chairside serve. The hand-written servers'
// bookings are removed after each measurement.
//
// Each patient has a distinct mobile number (telephone.go), which W9 searches for.
//
// W10 mixes reads and bookings while a user shows a year's income again and again. That report is part
// of Chairside's processor time, and while a hand-written server is measured it runs on Chairside, too.
//
// report-speed downloads each report of a year as JSON and runs the SQL in floor/reports for the
// same tables on its own connection, with the same settings of PostgreSQL, but that the SQL may use
// several processors. Before it measures, it checks that both have the same rows. The report's time includes the request, the audit event of
// the download and the JSON; the SQL's ends when the client has its rows. On SQLite only the report
// is measured.
//
// W3 requests pages 1 to 10, W4 pages 991 to 1000, or the last ten of a smaller database.
// W8 requests the rows changed since a time with 100 to 1,000 later changes. Without
// autovacuum Chairside still vacuums its two counter tables itself. SQLite is measured at
// the smallest size.
package main
