// Package schema is the source of everything: the entities of a dental practice, their
// links, the checks in the databases, and each entity's API.
//
// One file per resource, and:
//
//	fields.go    column helpers, so that a column is one line
//	mixin.go     practice, site and timestamps of every row
//	state.go     enumerations, and the map of state → timestamp
//	derive.go    derived columns as pure functions, for the hooks and the bulk loaders
//	hooks.go     the hooks that apply them
//
// Hooks use only the ent.Mutation interface, so this package compiles before any code is
// generated.
package schema
