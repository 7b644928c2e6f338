package trail

import (
	"strconv"

	"github.com/google/uuid"
)

// orNull returns the value, or nil for the zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// list returns numbers as an array of the database.
func list(ids []int64, open, end byte) string {
	b := []byte{open}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, end))
}

// quoted returns uuids as an array of the database.
func quoted(ids []uuid.UUID, open, end byte) string {
	b := []byte{open}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), id.String()...), '"')
	}
	return string(append(b, end))
}
