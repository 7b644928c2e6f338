//go:build race

package oauth_test

// racedCodes is the number of codes to race for: fewer with the race detector, which
// is several times slower.
const racedCodes = 40
