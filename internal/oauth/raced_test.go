//go:build !race

package oauth_test

// racedCodes is for how many codes racers run.
const racedCodes = 200
