package list

import (
	"strconv"

	"github.com/go-faster/jx"
	"github.com/google/uuid"
)

// Document is a record as JSON.
type Document struct {
	ID   string
	JSON jx.Raw
}

// Documents encodes rows, in their order.
func Documents[R any, P interface {
	*R
	Encode(*jx.Encoder)
}](rows []R, id func(P) string) []Document {
	documents := make([]Document, len(rows))
	for i := range rows {
		var e jx.Encoder
		P(&rows[i]).Encode(&e)
		documents[i] = Document{ID: id(&rows[i]), JSON: jx.Raw(e.Bytes())}
	}
	return documents
}

// ParseInt64s parses ids. One that is malformed is the id of nothing.
func ParseInt64s(ids []string) []int64 {
	parsed := make([]int64, len(ids))
	for i, id := range ids {
		parsed[i], _ = strconv.ParseInt(id, 10, 64)
	}
	return parsed
}

// ParseUUIDs parses ids. One that is malformed is the id of nothing.
func ParseUUIDs(ids []string) []uuid.UUID {
	parsed := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		parsed[i], _ = uuid.Parse(id)
	}
	return parsed
}
