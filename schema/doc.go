// Package schema declares the entities of a dental practice, their links, the checks in the
// databases, and each entity's API. Package codegen generates everything else from it.
//
// One file per resource, and:
//
//	fields.go    column helpers, so that a column is one line
//	mixin.go     mixins: the practice and site of a row, timestamps
//	state.go     enumerations, and the timestamp that each state sets
//	derive.go    derived columns as pure functions, for the hooks and the bulk loaders
//	hooks.go     the hooks that apply them
//
// Hooks use only the ent.Mutation interface, so this package compiles before any code is
// generated.
package schema
