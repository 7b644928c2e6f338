// Package ratelimit limits the requests of each token, of each practice, and of each network
// address that sends no valid token.
//
// # Buckets
//
// A limit of N is a token bucket that holds N requests and refills steadily, N per hour. Its
// only state is the time at which it is full again (the generic cell rate algorithm): a
// request moves that time by an hour / N.
//
// # Fairness
//
// A request takes from the bucket of its token and from that of its practice. So that busy
// tokens cannot starve the others, a token must leave part of the practice's bucket to tokens
// that use less: one request for every two that it has made in the last hour, roughly
// (reserve; recent). If many tokens compete, the busiest are refused first, and the bucket
// never falls below what they must leave. A token that makes a thirtieth of the requests, such
// as the front desk beside a synchronisation, still finds most of that.
//
// Processes learn what a token has made of late in others when they synchronise its bucket, so
// a token without a limit of its own leaves less if its requests are spread over processes.
//
// Nothing is wasted: a token alone can use two thirds of a full bucket in one burst, and
// then all that refills.
//
// # Many processes
//
// Each process decides alone, on buckets in memory, so a database that is down limits nothing. A bucket that has spent more than
// 1/25 of its limit since the last time (1/10 while it is more than half full) is
// synchronised in the background: one statement adds what the process has spent to the
// shared buckets and returns what all processes have spent together. A token's bucket is
// synchronised together with its practice's. What others have spent is deducted even below
// zero, so in the long run the limit is exact. Two processes together exceed it by at most
// 1/20 in an hour.
//
// While a bucket is being synchronised, a process spends at most 1/100 of its limit more; then
// requests wait for the other processes' spending, at most 250 ms and only once if the database
// hangs. So a burst that is faster than the database cannot spend the limit in each process.
//
// A bucket that refuses is synchronised as well, after a second at first and 6 times an hour
// in the long run. So only the first Retry-After after a burst over several processes may be
// too short.
//
// All that costs a limit of 3600 at most one statement per hundred requests, one of 36000 a
// tenth of that, and a bucket that stays above half less than a third. Bookkeeping by requests
// instead of by time costs slow clients nothing.
//
// What a process has spent counts from the time of the first request that it has not
// shared. The refill since then is deducted once, whichever process spent.
//
// # Addresses
//
// Requests without a valid token take from a bucket of their address; for IPv6, of its /64
// network. It never affects requests with a valid token from the same address. These buckets
// are not shared between processes and at most maxAddresses, so that an attacker with many
// addresses cannot fill the memory.
package ratelimit
