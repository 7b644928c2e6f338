// Package write creates, updates and deletes rows for requests. Generated code describes a
// resource (Resource). Its rule, if it has one, is one function in package api that takes a
// Write.
//
//	create  one transaction:                rule ─▶ Check ─▶ Save
//	update  one transaction: lock the row ─▶ If-Match ─▶ read the clock ─▶ rule ─▶ Check ─▶ Save
//	delete  one transaction: lock the row ─▶ If-Match ─▶ read the clock ─▶ delete or archive
//
// A rule adds Problems (422), requires conditions (Require: 422; RequireOr: an error of its
// own, such as a 409), takes locks and sets columns. A rule that also writes other rows
// calls Check before that and Save where its own row is needed. Most rules call neither:
// both happen when the rule returns.
//
// A resource annotated with a conflict is created by one statement, which takes the locks
// and writes the row if every condition holds (store.DB.TxSingleStatement). Its rule runs
// up to four times: outside a transaction to learn the locks, with the statement, again
// with the statement if another process holds a lock, and in an ordinary transaction if a
// condition failed. A rule that calls Check or Save runs in an
// ordinary transaction only, so it never writes twice.
package write
