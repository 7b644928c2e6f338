package entx

import (
	"strconv"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
)

// InArray is column IN (values). It passes all values in one argument, so that the statement
// has the same text, and one prepared statement, for any number of them. The sub-query hides
// them from PostgreSQL's planner, which would otherwise plan again for each short list.
func InArray[P ~func(*sql.Selector), ID int64 | uuid.UUID](column string, values []ID) P {
	kind := "bigint"
	list := make([]byte, 0, 8*len(values)+2)
	for i, id := range values {
		if i > 0 {
			list = append(list, ',')
		}
		switch v := any(id).(type) {
		case int64:
			list = strconv.AppendInt(list, v, 10)
		case uuid.UUID:
			kind = "uuid"
			list = append(append(append(list, '"'), v.String()...), '"')
		}
	}
	return func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.Ident(s.C(column))
			if b.Dialect() == dialect.Postgres {
				b.WriteString(" = ANY (CAST((SELECT CAST(").Arg("{" + string(list) + "}").WriteString(" AS " + kind + "[])) AS " + kind + "[]))")
			} else {
				b.WriteString(" IN (SELECT value FROM json_each(").Arg("[" + string(list) + "]").WriteString("))")
			}
		}))
	}
}

// Holds matches the rows for which an SQL condition is true, or those for which it is false. The
// condition is never null.
func Holds[P ~func(*sql.Selector)](wanted bool, condition func(*sql.Selector) string) P {
	return func(s *sql.Selector) {
		text := condition(s)
		if !wanted {
			text = "NOT " + text
		}
		s.Where(sql.ExprP(text))
	}
}

// OpaqueTime compares a column with a time. A sub-query hides the time from PostgreSQL's
// planner, so that the statement has one plan for all times.
func OpaqueTime[P ~func(*sql.Selector)](column string, op sql.Op, t time.Time) P {
	return func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.Ident(s.C(column)).WriteOp(op)
			if b.Dialect() == dialect.Postgres {
				b.WriteString("(SELECT CAST(").Arg(t).WriteString(" AS timestamptz))")
			} else {
				b.Arg(t)
			}
		}))
	}
}
