// Package analyst lets analysts read the records of one practice with SQL.
//
//	schema/ ──go generate──▶ ent.Views      which columns are shown, with their descriptions
//	                            │
//	       ┌────────────────────┴─────────────────┐
//	       ▼ views.go                             ▼ embedded.go
//	PostgreSQL: views of the schema report,       SQLite: temporary views of one connection,
//	made by migrations                            made by "chairside sql"
//	       ▲
//	       │ role.go   "chairside analyst create": a role that may read them
//
// # What keeps an analyst in one practice
//
// The table analysts binds a role to a practice. Each view compares it with session_user, the role
// that signed in. An analyst can change settings, but neither session_user nor the table. The views
// are security barriers, so no function of the analyst sees a row before the view's own condition
// has removed the others. They have the rights of the tables' owner, which row-level security does
// not confine. The role itself may use the schema report and nothing else: every role of the server
// may read the views, but sees no rows in them without an entry in analysts. So a migration that
// replaces a view need not know the roles.
//
// SQLite has no roles. Whoever can open the file can read all of it, so its views are a convenience
// for the operator and no protection.
package analyst
