package store

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/audit"
	"chairside/internal/civil"
	"chairside/internal/decimal"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/schema"
)

// auditColumns are the columns of each entity whose values the audit log keeps.
var auditColumns = func() map[string]map[string]schema.AuditValue {
	all := map[string]map[string]schema.AuditValue{}
	for _, t := range ent.Tables {
		columns := map[string]schema.AuditValue{}
		for i := range t.Columns {
			name := t.Columns[i].Name
			if v := schema.AuditValueOf(t.Type, name, holdsWords(&t.Columns[i])); v == schema.AuditPlain || v == schema.AuditHashed {
				columns[name] = v
			}
		}
		all[t.Type] = columns
	}
	return all
}()

// holdsWords reports whether a column holds text, a document, bytes or a date. The words of an enum
// are none.
func holdsWords(c *table.Column) bool {
	switch c.Stored {
	case "text", "jsonb", "bytea", "date":
		return len(c.Values) == 0
	}
	return false
}

// values are the values of a write, as four JSON objects.
type values struct {
	key            *audit.Key // nil without one: no hashes are kept
	practice       uuid.UUID
	entity         string
	plain, hashed  []byte // of the new values
	before, hidden []byte // of the old ones: plain, hashed
}

// add adds the value of a column to one of two objects.
func (v *values) add(plain, hashed *[]byte, column string, class schema.AuditValue, value any) error {
	if class == schema.AuditHashed {
		if v.key == nil {
			return nil
		}
		if s, sealed := value.(seal.Value); sealed { // equal texts have equal hashes, whatever key seals them
			if plain, known := s.Plain(); known && !s.IsNull() {
				value = plain
			}
		}
		text, err := appendValue(make([]byte, 0, 64), value)
		if err != nil {
			return err
		}
		*hashed = append(appendKey(*hashed, column), '"')
		*hashed = append(v.key.AppendHash(*hashed, v.practice, v.entity, column, text), '"')
		return nil
	}
	var err error
	*plain, err = appendValue(appendKey(*plain, column), value)
	return err
}

// appendKey begins a member of an object.
func appendKey(object []byte, column string) []byte {
	if len(object) > 0 {
		object = append(object, ',')
	}
	object = append(append(object, '"'), column...)
	return append(object, '"', ':')
}

// details returns the details of an entry. columns are sorted.
func (db *DB) details(ctx context.Context, practice uuid.UUID, m, before ent.Mutation, action string, columns []string) (schema.AuditDetails, error) {
	classes := auditColumns[m.Type()]
	v := values{key: db.AuditKey, practice: practice, entity: m.Type(), plain: make([]byte, 0, 256)}
	for _, column := range columns {
		class, ok := classes[column]
		if !ok {
			continue
		}
		if action != actionDelete {
			value, _ := m.Field(column)
			if err := v.add(&v.plain, &v.hashed, column, class, value); err != nil {
				return schema.AuditDetails{}, err
			}
		}
		if action != actionCreate && before != nil {
			value, err := before.OldField(ctx, column)
			if err == nil {
				value, err = db.openToHash(practice, m, column, value)
			}
			if err == nil {
				err = v.add(&v.before, &v.hidden, column, class, value)
			}
			if err != nil {
				return schema.AuditDetails{}, err
			}
		}
	}
	text := make([]byte, 0, 64+len(v.plain)+len(v.hashed)+len(v.before)+len(v.hidden))
	for _, object := range []struct {
		name    string
		members []byte
	}{{"new", v.plain}, {"new_hash", v.hashed}, {"old", v.before}, {"old_hash", v.hidden}} {
		if len(object.members) == 0 {
			continue
		}
		text = append(appendKey(text, object.name), '{')
		text = append(append(text, object.members...), '}')
	}
	if c, err := principal.From(ctx); err == nil && c.SiteLifted {
		text = append(appendKey(text, "site_limit_lifted"), "true"...)
	}
	if len(text) == 0 {
		return schema.AuditDetails{}, nil
	}
	return schema.AuditDetails{Text: append(append([]byte{'{'}, text...), '}')}, nil
}

// appendValue appends the JSON of a column's value. The common types need no reflection.
func appendValue(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...), nil
	case string:
		if isPlainText(v) {
			return append(append(append(b, '"'), v...), '"'), nil
		}
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case *int64:
		if v == nil {
			return append(b, "null"...), nil
		}
		return strconv.AppendInt(b, *v, 10), nil
	case decimal.Decimal:
		return append(append(append(b, '"'), v.String()...), '"'), nil
	case uuid.UUID:
		return append(append(append(b, '"'), v.String()...), '"'), nil
	case time.Time:
		return append(v.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"'), nil
	case *time.Time:
		if v == nil {
			return append(b, "null"...), nil
		}
		return append(v.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"'), nil
	case civil.Date:
		return append(append(append(b, '"'), v.String()...), '"'), nil
	}
	text, err := json.Marshal(value)
	return append(b, text...), err
}

// isPlainText reports whether JSON shows a string as it is.
func isPlainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
