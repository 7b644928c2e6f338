//go:build !race

package oauth_test

// racedCodes is the number of codes to race for.
const racedCodes = 200
