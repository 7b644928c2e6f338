package dump

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"chairside/internal/entx/table"
	"chairside/internal/seal"
)

// sealedPlace returns where a sealed column of a row stands. The values are scanned or read.
func sealedPlace(t *table.Table, column string, values []any) (at seal.Place, err error) {
	owner := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == practiceColumn(t) })
	practice, _, err := t.Columns[owner].Stored.Format(values[owner])
	if err != nil {
		return at, err
	}
	at = seal.Place{Table: t.Name, Column: column}
	if at.Practice, err = uuid.Parse(practice); err != nil {
		return at, err
	}
	at.Row, _, err = t.Columns[0].Stored.Format(values[0])
	return at, err
}

// unseal replaces the sealed values of a scanned row by their plain texts.
func unseal(keys *seal.Keys, t *table.Table, values []any) error {
	for i := range t.Columns {
		if !t.Columns[i].IsSealed() || values[i] == nil {
			continue
		}
		var v seal.Value
		at, err := sealedPlace(t, t.Columns[i].Name, values)
		if err == nil {
			err = v.Scan(values[i])
		}
		if err == nil {
			values[i], err = keys.Open(at, v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Columns[i].Name, err)
		}
	}
	return nil
}

// ErrOtherKeys means that an export is sealed with keys that this installation does not have.
var ErrOtherKeys = errors.New("the export is sealed with the keys of another installation: export again with --unsealed")

// sealer seals the rows of an export for the places where they go.
type sealer struct {
	keys  *seal.Keys
	plain bool // the export was not sealed
}

// open returns the plain text of a value of the export.
func (s sealer) open(at seal.Place, text string) (string, error) {
	if s.plain {
		return text, nil
	}
	v, err := seal.Parse(text)
	if err == nil {
		text, err = s.keys.Open(at, v)
	}
	switch {
	case errors.Is(err, seal.ErrLostKey), errors.Is(err, seal.ErrNoKeys):
		return "", fmt.Errorf("%s: %w: %w", at.Column, ErrOtherKeys, err)
	case err != nil:
		return "", fmt.Errorf("%s: %w: %w", at.Column, ErrAltered, err)
	}
	return text, nil
}

// check fails if a value of a row of the export does not open.
func (s sealer) check(t *table.Table, values []any) error {
	for i := range t.Columns {
		text, ok := values[i].(string)
		if !ok || !t.Columns[i].IsSealed() {
			continue
		}
		at, err := sealedPlace(t, t.Columns[i].Name, values)
		if err == nil {
			_, err = s.open(at, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// move calls change, which may give a row another id and practice, and seals its values for them.
func (s sealer) move(t *table.Table, values []any, change func() error) error {
	sealed := slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.IsSealed() })
	if !sealed {
		return change()
	}
	from, err := sealedPlace(t, "", values)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	to, err := sealedPlace(t, "", values)
	if err != nil {
		return err
	}
	for i := range t.Columns {
		text, ok := values[i].(string)
		if !ok || !t.Columns[i].IsSealed() {
			continue
		}
		from, to := from, to
		from.Column, to.Column = t.Columns[i].Name, t.Columns[i].Name
		if text, err = s.open(from, text); err != nil {
			return err
		}
		if !s.plain && from == to {
			continue
		}
		v, err := s.keys.Seal(to, text)
		if err != nil {
			return fmt.Errorf("%s: %w", to.Column, err)
		}
		values[i] = v.String()
	}
	return nil
}
