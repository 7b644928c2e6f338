//go:build race

package oauth_test

// racedCodes is for how many codes racers run: fewer where the race detector
// makes each several times slower.
const racedCodes = 40
