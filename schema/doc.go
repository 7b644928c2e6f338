// Package schema is the source of everything: the entities of a dental
// practice, how they are linked, what the databases check, and how each
// appears in the API.
//
// One file per entity. Beside them:
//
//	fields.go    the few shapes of column, so that a column is one line
//	mixin.go     what every row has: its practice, its site, its timestamps
//	state.go     the words of each state, and the only copy of state → timestamp
//	derive.go    columns that follow from other columns of their row, as pure
//	             functions which the hooks and the bulk loaders both call
//	hooks.go     the hooks that apply them
//
// Hooks use only the general ent.Mutation interface, so this package compiles
// while no code has been generated.
package schema
