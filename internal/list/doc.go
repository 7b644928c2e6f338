// Package list reads the rows of a resource in their response form: one row, or a page of
// a list with its total.
//
// Generated code describes a resource as data (Form, List) and a request as a Request.
// The functions here serve every resource:
//
//	ogent ReadX ─▶ List.Read ─┬─ filterFirst   find the rows by a filter, then sort them
//	                          └─ readPage      walk an index that has the order
//	                               └─ findDay  start a deep page at a day, by a counter
//
// Decision 8 explains when each is used and what it gains, decision 6 the counters.
package list
