package list

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-faster/jx"
	"github.com/google/uuid"
)

// Linked calls read with ids that the response has as text.
func Linked[ID int64 | uuid.UUID](ctx context.Context, texts []string, read func(context.Context, []ID) (map[string]jx.Raw, error)) (map[string]jx.Raw, error) {
	ids := make([]ID, len(texts))
	for i, text := range texts {
		var err error
		switch id := any(&ids[i]).(type) {
		case *int64:
			*id, err = strconv.ParseInt(text, 10, 64)
		case *uuid.UUID:
			*id, err = uuid.Parse(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return read(ctx, ids)
}

// Documents returns the JSON of rows by id.
func Documents[ID, R any, P interface {
	*R
	Encode(*jx.Encoder)
}](rows []R, id func(P) ID) map[string]jx.Raw {
	documents := make(map[string]jx.Raw, len(rows))
	for i := range rows {
		var e jx.Encoder
		P(&rows[i]).Encode(&e)
		documents[fmt.Sprint(id(&rows[i]))] = e.Bytes()
	}
	return documents
}
