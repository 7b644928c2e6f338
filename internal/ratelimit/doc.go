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
// Processes learn what tokens have made of late in others when they synchronise their buckets, so
// a token leaves a little less if its requests are spread over processes.
//
// Nothing is wasted: a token alone can use two thirds of a full bucket in one burst, and
// then all that refills.
//
// # Many processes
//
// Each process decides alone, on buckets in memory, so a database that is down limits nothing. What
// a process has spent is added to the shared buckets in the background: one statement does so for a
// practice and all its tokens that have spent, and returns what all processes have spent together.
// What others have spent is deducted even below zero, so in the long run the limit is exact.
//
// Processes can exceed a limit by what they have not shared yet. So the less is left, the sooner they
// share. Of a practice's bucket, what the token must leave to others does not count as left. A process
// shares (due)
//
//   - requests that are slower than the refill after a tenth of what is left, and at least 1/22 of the limit
//   - a burst after a seventh of what is left, and at least 1/100 of the limit
//   - a burst of a bucket that it has not shared for ten seconds after 1/100 of the limit, because
//     other processes may have emptied it
//
// Between two statements a process expects that the others go on as they did: it counts each of its
// requests as many times as processes have made them together (unheard, learn). So each uses
// only its part of the rest, and the next statement corrects the estimate. Up to five processes
// together exceed a limit by at most 1/20 in a burst, and the front desk still finds what busy
// tokens leave. Tests simulate one to five processes.
//
// While a bucket is being synchronised, a process spends at most 1/200 of its limit more; then
// requests wait for the other processes' spending, at most 250 ms and only once if the database
// hangs. So a burst that is faster than the database cannot spend the limit in each process.
//
// A bucket that refuses is synchronised as well, after a second at first and 4 times an hour
// in the long run. So only the first Retry-After after a burst over several processes may be
// too short.
//
// All that costs a limit of 3600 at most one statement per hundred requests, besides eight in each process
// when a token begins to make too many; one of 36000 a tenth of that. Bookkeeping by requests
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
