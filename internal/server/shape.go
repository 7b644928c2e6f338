package server

import (
	"context"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"chairside/internal/apierror"
	"chairside/internal/codec"
	"chairside/ogent"
)

// shape changes the records of a response: to some of their members (fields=), and to have
// linked records as further members (expand=).
type shape struct {
	key    string   // wrapper of the records
	fields []string // if nil, all
	links  []codec.Link
}

// readShape returns the shape that the query asks for, or nil. It refuses linked
// records that the token may not read.
func readShape(x *requestState) (*shape, error) {
	fields, names := x.query[codec.FieldsParam], x.query[codec.ExpandParam]
	if x.operation.Key == "" || len(fields)+len(names) == 0 {
		return nil, nil
	}
	s := &shape{key: x.operation.Key, fields: fields}
	for _, link := range x.operation.Links {
		if !slices.Contains(names, link.Name) {
			continue
		}
		if !x.caller.Scopes.Allows(link.Scope) {
			return nil, apierror.InsufficientScope(link.Scope)
		}
		s.links = append(s.links, link)
	}
	return s, nil
}

// apply returns a response in this shape. It reads all records of a link at once. Records that
// the caller may not see are null.
func (s *shape) apply(ctx context.Context, body []byte, reads ogent.Reads) (*jx.Encoder, error) {
	linked := make([]map[string]jx.Raw, len(s.links))
	for i, link := range s.links {
		ids, err := s.idsOf(body, link.Column)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			continue
		}
		found, err := ogent.Resources[link.Plural].ByID(ctx, reads, ids)
		if err != nil {
			return nil, err
		}
		linked[i] = make(map[string]jx.Raw, len(found))
		for _, d := range found {
			linked[i][d.ID] = d.JSON
		}
	}
	var e jx.Encoder
	e.ObjStart()
	err := jx.DecodeBytes(body).Obj(func(d *jx.Decoder, name string) error {
		e.FieldStart(name)
		if name != s.key {
			return copyValue(d, &e)
		}
		if d.Next() != jx.Array {
			return s.record(d, &e, linked)
		}
		e.ArrStart()
		err := d.Arr(func(d *jx.Decoder) error { return s.record(d, &e, linked) })
		e.ArrEnd()
		return err
	})
	e.ObjEnd()
	return &e, err
}

// record writes one record in this shape.
func (s *shape) record(d *jx.Decoder, e *jx.Encoder, linked []map[string]jx.Raw) error {
	ids := make([]string, len(s.links))
	e.ObjStart()
	err := d.Obj(func(d *jx.Decoder, name string) error {
		value, err := d.Raw()
		if err != nil {
			return err
		}
		for i, link := range s.links {
			if link.Column == name {
				ids[i] = strings.Trim(value.String(), `"`)
			}
		}
		if s.fields == nil || slices.Contains(s.fields, name) {
			e.FieldStart(name)
			e.Raw(value)
		}
		return nil
	})
	for i, link := range s.links {
		e.FieldStart(link.Name)
		if document, ok := linked[i][ids[i]]; ok {
			e.Raw(document)
		} else {
			e.Null()
		}
	}
	e.ObjEnd()
	return err
}

// idsOf returns the different ids in a member of the records.
func (s *shape) idsOf(body []byte, column string) (ids []string, err error) {
	seen := map[string]bool{"null": true}
	record := func(d *jx.Decoder) error {
		return d.Obj(func(d *jx.Decoder, name string) error {
			value, err := d.Raw()
			if id := strings.Trim(value.String(), `"`); err == nil && name == column && !seen[id] {
				seen[id], ids = true, append(ids, id)
			}
			return err
		})
	}
	err = jx.DecodeBytes(body).Obj(func(d *jx.Decoder, name string) error {
		switch {
		case name != s.key:
			return d.Skip()
		case d.Next() == jx.Array:
			return d.Arr(record)
		}
		return record(d)
	})
	return ids, err
}

// copyValue writes the next value unchanged.
func copyValue(d *jx.Decoder, e *jx.Encoder) error {
	value, err := d.Raw()
	if err == nil {
		e.Raw(value)
	}
	return err
}
