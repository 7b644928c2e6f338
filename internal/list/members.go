package list

import (
	"context"

	"chairside/ent"
)

// IDs are the ids of rows.
func IDs[ID, R any](rows []R, id func(R) ID) []ID {
	ids := make([]ID, len(rows))
	for i, r := range rows {
		ids[i] = id(r)
	}
	return ids
}

// Pointers point at rows.
func Pointers[R any](rows []R) []*R {
	all := make([]*R, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return all
}

// AddMember sets a member that no column has: read gives its values for the rows with
// ids, in their order. Without read the member stays empty.
func AddMember[ID, R, V any](ctx context.Context, c *ent.Client, read func(context.Context, *ent.Client, []ID) ([]V, error), rows []*R, id func(*R) ID, set func(*R, V)) error {
	if read == nil {
		return nil
	}
	values, err := read(ctx, c, IDs(rows, id))
	if err != nil {
		return err
	}
	for i, v := range values {
		set(rows[i], v)
	}
	return nil
}
