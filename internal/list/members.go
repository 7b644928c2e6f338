package list

import (
	"context"

	"chairside/ent"
)

// IDs returns the ids of rows.
func IDs[ID, R any](rows []R, id func(R) ID) []ID {
	ids := make([]ID, len(rows))
	for i, r := range rows {
		ids[i] = id(r)
	}
	return ids
}

// Pointers returns a pointer to each row.
func Pointers[R any](rows []R) []*R {
	all := make([]*R, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return all
}

// AddMember sets a member that is not a column. read returns its values for the rows with
// these ids, in their order; without read the member stays empty.
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
