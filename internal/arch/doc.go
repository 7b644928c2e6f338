// Package arch tests the architecture: which packages may import which, the map of the
// repository and the names in comments. decisions/ explains the design, one page each;
// departures.md lists where we leave a library's usual path.
package arch
