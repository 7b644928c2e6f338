// Package arch holds the rules on who may import whom, as a test, and the
// decisions behind the shape of the program, one page each (decisions/).
package arch
