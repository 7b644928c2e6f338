package api

import (
	"context"

	"entgo.io/ent"
)

// update is any of ent's builders that change one row.
type update[M ent.Mutation] interface {
	Mutation() M
	Exec(context.Context) error
}

// save writes a change, unless nothing differs from what is stored: a request
// that changes nothing leaves no trace and keeps the entity tag.
func save[M ent.Mutation](ctx context.Context, u update[M]) error {
	m := u.Mutation()
	if len(m.Fields()) == 0 && len(m.ClearedFields()) == 0 {
		return nil
	}
	return u.Exec(ctx)
}
