package entx

import (
	"strconv"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// InArray is the condition that a column has one of some numbers: one argument,
// and so one statement, however many they are. PostgreSQL does not see them while
// it plans, so one plan does for all; it would make one each time for a few.
func InArray[P ~func(*sql.Selector)](column string, numbers []int64) P {
	list := make([]byte, 0, 8*len(numbers)+2)
	for i, n := range numbers {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, n, 10)
	}
	return func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.Ident(s.C(column))
			if b.Dialect() == dialect.Postgres {
				b.WriteString(" = ANY (CAST((SELECT CAST(").Arg("{" + string(list) + "}").WriteString(" AS bigint[])) AS bigint[]))")
			} else {
				b.WriteString(" IN (SELECT value FROM json_each(").Arg("[" + string(list) + "]").WriteString("))")
			}
		}))
	}
}

// OpaqueTime compares a column with a time that PostgreSQL does not see while it
// plans: for statements that should have one plan, whatever the time.
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
