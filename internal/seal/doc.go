// Package seal encrypts the columns whose values the server must be able to read but a copy of
// the database must not show: numbers and health data of patients, and secrets of users and webhooks.
//
// A sealed column has the Go type Value. Writers set Plain(text), and the hook of package store
// that sees every write seals it; a Value that is not sealed is refused on its way to the database, which also
// refuses it by a CHECK of the column. A value is bound to its Place: moved to another row, column
// or practice, it does not open. So a new row's id is reserved before its values are sealed.
//
// A column that is searched has another one with a keyed hash of its value (Hash), whose key is sealed.
//
// The cipher is AES-256-GCM of Tink (github.com/tink-crypto/tink-go: Google's, released several
// times a year), which also keeps the keys. They are in a file or in the environment, never in
// the database. Package store/sealing changes the key of stored values.
//
//	hash.go   keyed hashes, by which sealed values are found
//	keys.go   the keys: load, create, seal, open
//	rotate.go a key file: add, remove
//	value.go  a sealed value and its place
package seal
