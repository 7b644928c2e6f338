// Package write creates, updates and deletes rows for requests. Generated code describes a
// resource (Resource). Its rule, if it has one, is one function in package api that takes a
// Write.
//
//	create  in one transaction:                                              rule ─▶ Check ─▶ Save
//	update  in one transaction: lock the row ─▶ If-Match ─▶ read the clock ─▶ rule ─▶ Check ─▶ Save
//	delete  in one transaction: lock the row ─▶ If-Match ─▶ read the clock ─▶ archive, or clear references and delete
//
// A rule adds Problems (422), requires conditions (Require: 422; RequireOr: an error of its
// own, such as a 409), takes locks and sets columns. A rule that also writes other rows
// calls Check before it writes them, and Save once it needs the row itself. Most rules call
// neither: Check and Save run when the rule returns.
//
// A resource annotated with a conflict is created by one statement, which takes the locks
// and writes the row if every condition holds (store.DB.TxSingleStatement). Its rule runs
// up to four times: outside a transaction, to learn which locks it needs; with the statement;
// with the statement again if another process holds a lock; and in an ordinary transaction
// if a condition failed. A rule that calls Check or Save gets past that call only in an
// ordinary transaction, so it never writes twice.
//
// A request with an idempotency key always uses an ordinary transaction, which first looks for
// the key and last stores the response (Tx). A dry run does all of the above and then rolls back
// (store.DryRun).
package write
