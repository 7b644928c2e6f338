// Package list reads the rows of a resource in their response form: one row, or a page of
// a list with its total.
//
// Generated code describes a resource as data (Form, List) and a request as a Request.
// The functions here serve every resource:
//
//	ogent ReadX ─▶ List.Read ─┬─ filterFirst   find the rows by a filter, then sort them
//	                          ├─ findDay       find a deep page by a counter of rows per day
//	                          └─ readPage      walk an index that has the order
//
// Decision 8 explains why there are three ways and what each one gains.
package list
