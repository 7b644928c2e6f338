// Package write creates, updates and deletes rows on behalf of requests. Generated code
// describes a resource (Resource); a rule, if the resource has one, is one function in
// package api, which sees a Write.
//
//	create  one transaction:                rule ─▶ Check ─▶ Save
//	update  one transaction: lock the row ─▶ If-Match ─▶ read the clock ─▶ rule ─▶ Check ─▶ Save
//	delete  one transaction: lock the row ─▶ If-Match ─▶ read the clock ─▶ delete, or archive
//
// A rule notes Problems (422), names conditions (Require: 422; RequireOr: an error of its
// own, as 409), takes locks and sets columns. What it does in the database beyond that
// stands between its calls of Check and Save, or behind Save. Most rules call neither:
// what a rule leaves to do is done when it returns.
//
// The create of a resource that is annotated with a conflict takes its locks first and
// then mostly is one statement, which writes the row if every condition holds
// (store.DB.TxTrying). For that its rule runs several times: to learn its locks, in the
// statement's transaction, and where a condition failed. Only a rule that calls neither
// Check nor Save is run so; nothing else of it can have been written twice.
package write
