package ask

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"chairside/internal/civil"
	"chairside/internal/entx/table"
)

// By groups rows by the column at the end of a path.
func By(path ...string) Column {
	return Column{key: func(g *grouping) (key, error) {
		column, _, err := g.column(path)
		return key{column, column}, err
	}}
}

// Day groups rows by the practice's day of a time, or by a date.
func Day(path ...string) Column { return bucket{"day", "date(%s)"}.of(path) }

// Week groups rows by week, as the Date of its Monday.
func Week(path ...string) Column { return bucket{"week", "date(%s, 'weekday 0', '-6 days')"}.of(path) }

// Month groups rows by month, as the Date of its first day.
func Month(path ...string) Column { return bucket{"month", "date(%s, 'start of month')"}.of(path) }

// Quarter groups rows by quarter of the calendar year, as the Date of its first day.
func Quarter(path ...string) Column {
	return bucket{"quarter", "date(%s, 'start of month', '-' || ((CAST(strftime('%%m', %[1]s) AS integer) + 2) %% 3) || ' months')"}.of(path)
}

// bucket is a length of time that begins with a day: PostgreSQL's name of it, and SQLite's
// expression for its first day.
type bucket struct{ unit, embedded string }

func (b bucket) of(path []string) Column {
	return Column{key: func(g *grouping) (key, error) {
		column, c, err := g.column(path)
		if err != nil {
			return key{}, err
		}
		if c.Stored != table.Time && c.Stored != table.Date {
			return key{}, fmt.Errorf("ask: %s is neither a time nor a date", c.Name)
		}
		postgres, hasTime := g.Dialect() == dialect.Postgres, c.Stored == table.Time
		switch {
		case postgres && hasTime:
			column = postgresTime(column, g.zone)
		case postgres:
			column = "CAST(" + column + " AS timestamp)"
		case hasTime:
			column = embeddedDay(column, g.zone)
		}
		if postgres { // to format each group is much faster than to format each row
			first := "date_trunc('" + b.unit + "', " + column + ")"
			return key{first, "to_char(" + first + ", 'YYYY-MM-DD')"}, nil
		}
		first := fmt.Sprintf(b.embedded, column)
		return key{first, first}, nil
	}}
}

// DayOf returns SQL for the practice's day of a time column in a time zone, or a number of days
// later. It compares with date columns.
func DayOf(s *sql.Selector, zone *time.Location, column string, later int) string {
	if s.Dialect() == dialect.Postgres {
		return fmt.Sprintf("(CAST(%s AS date) + %d)", postgresTime(column, zone), later)
	}
	return fmt.Sprintf("date(%s, '%+d days')", embeddedDay(column, zone), later)
}

// postgresTime is PostgreSQL's expression for the practice's clocks at a time.
func postgresTime(column string, zone *time.Location) string {
	return column + " AT TIME ZONE '" + strings.ReplaceAll(zone.String(), "'", "''") + "'"
}

// embeddedDay is SQLite's expression for the day of a time, which it stores as microseconds
// since 1970. It knows no time zones, so the expression brings the offsets of one. Seconds are
// counted from the year 1 while they are divided, because a division rounds towards zero.
func embeddedDay(column string, zone *time.Location) string {
	first := time.Time{}.Unix()
	return fmt.Sprintf("date((%s - %d000000) / 1000000 + %[2]d + %s, 'unixepoch')", column, first, offsetAt(column, civil.Offsets(zone)))
}

// offsetAt is an expression for the offset at a time: a binary search.
func offsetAt(column string, offsets []civil.Offset) string {
	half := len(offsets) / 2
	if half == 0 {
		return strconv.Itoa(offsets[0].Seconds)
	}
	return fmt.Sprintf("CASE WHEN %s < %d THEN %s ELSE %s END", column, offsets[half].Since.UnixMicro(), offsetAt(column, offsets[:half]), offsetAt(column, offsets[half:]))
}

// Count counts the rows of a group for which the predicates hold, or all rows without any.
func Count(where ...func(*sql.Selector)) Column {
	return Column{value: func(g *grouping) (sql.Querier, error) {
		condition, err := g.where(where)
		if condition == nil || err != nil {
			return sql.Raw("COUNT(*)"), err
		}
		return sql.ExprFunc(func(b *sql.Builder) {
			b.WriteString("COUNT(CASE WHEN ").Wrap(func(b *sql.Builder) { b.Join(condition) }).WriteString(" THEN 1 END)")
		}), nil
	}}
}

// Sum adds up a column of the query's own table over the rows of a group for which the
// predicates hold. It takes no path: a row that others refer to would count several times.
func Sum(column string, where ...func(*sql.Selector)) Column {
	return Column{value: func(g *grouping) (sql.Querier, error) {
		name, c, err := g.column([]string{column})
		if err != nil {
			return nil, err
		}
		if c.Stored != table.Amount && c.Stored != table.Integer {
			return nil, fmt.Errorf("ask: %s is not a number", c.Name)
		}
		condition, err := g.where(where)
		return sql.ExprFunc(func(b *sql.Builder) {
			b.WriteString("CAST(COALESCE(SUM(")
			if condition != nil {
				b.WriteString("CASE WHEN ").Wrap(func(b *sql.Builder) { b.Join(condition) }).WriteString(" THEN " + name + " END")
			} else {
				b.WriteString(name)
			}
			b.WriteString("), 0) AS bigint)")
		}), err
	}}
}

// Share is the Ratio of the rows for which the predicates hold to all rows of a group.
func Share(where ...func(*sql.Selector)) Column { return Rate(Count(where...), Count()) }

// Rate is the Ratio of two columns of Count or Sum.
func Rate(part, whole Column) Column {
	return Column{value: func(g *grouping) (sql.Querier, error) {
		if part.value == nil || whole.value == nil {
			return nil, errors.New("ask: Rate takes columns of Count or Sum")
		}
		above, err := part.value(g)
		if err != nil {
			return nil, err
		}
		below, err := whole.value(g)
		return sql.ExprFunc(func(b *sql.Builder) {
			b.WriteString("CAST(").Join(above).WriteString(" AS text) || '/' || CAST(").Join(below).WriteString(" AS text)")
		}), err
	}}
}

// During selects the rows of a period: those with a time on one of its days in the time zone, or
// with one of its dates. Both days are included.
//
//	client.Appointment.Query().Where(ask.During(p.Zone, appointment.FieldStartTime, from, to))
func During(zone *time.Location, column string, from, to Date) func(*sql.Selector) {
	return func(s *sql.Selector) {
		c := tableOf(s.TableName()).Column(column)
		switch {
		case c != nil && c.Stored == table.Time:
			s.Where(sql.And(sql.GTE(s.C(column), from.In(zone).UTC()), sql.LT(s.C(column), to.AddDays(1).In(zone).UTC())))
		case c != nil && c.Stored == table.Date:
			s.Where(sql.And(sql.GTE(s.C(column), from), sql.LTE(s.C(column), to)))
		default:
			s.AddError(fmt.Errorf("ask: %s is neither a time nor a date", column))
		}
	}
}
