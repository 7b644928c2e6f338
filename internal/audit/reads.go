package audit

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"
)

// Reads are the notes of one or more requests, each id once.
type Reads struct {
	resources map[string]*seen
	patients  map[int64]struct{}
}

// seen are the ids of one resource.
type seen struct {
	int64s map[int64]struct{}
	uuids  map[uuid.UUID]struct{}
}

// AddTo adds the notes to r.
func (l *Log) AddTo(r *Reads) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.resources == nil {
		r.resources, r.patients = map[string]*seen{}, map[int64]struct{}{}
	}
	for _, read := range l.read {
		s := r.resources[read.resource]
		if s == nil {
			s = &seen{}
			r.resources[read.resource] = s
		}
		if s.int64s == nil && len(read.int64s) > 0 {
			s.int64s = make(map[int64]struct{}, len(read.int64s))
		}
		for _, id := range read.int64s {
			s.int64s[id] = struct{}{}
			if read.resource == "patients" {
				r.patients[id] = struct{}{}
			}
		}
		if s.uuids == nil && len(read.uuids) > 0 {
			s.uuids = make(map[uuid.UUID]struct{}, len(read.uuids))
		}
		for _, id := range read.uuids {
			s.uuids[id] = struct{}{}
		}
	}
	for _, id := range l.patients {
		r.patients[id] = struct{}{}
	}
}

// Size returns the number of ids.
func (r *Reads) Size() (n int) {
	for _, s := range r.resources {
		n += len(s.int64s) + len(s.uuids)
	}
	return n
}

// UUIDs returns the ids of a resource with uuids.
func (r *Reads) UUIDs(resource string) []uuid.UUID {
	if s := r.resources[resource]; s != nil {
		return slices.Collect(maps.Keys(s.uuids))
	}
	return nil
}

// AddPatients adds patients whose records were read.
func (r *Reads) AddPatients(ids []int64) {
	for _, id := range ids {
		r.patients[id] = struct{}{}
	}
}

// Patients returns the patients, in order.
func (r *Reads) Patients() []int64 { return slices.Sorted(maps.Keys(r.patients)) }

// AppendJSON appends the details of an entry: the ids by resource, in order, the patients, and
// whether the limit of the token to a site was lifted.
func (r *Reads) AppendJSON(b []byte, requests []string, siteLifted bool) []byte {
	b = append(b, `{"patients":`...)
	b = appendList(b, r.Patients(), strconv.AppendInt)
	b = append(b, `,"records":{`...)
	for i, name := range slices.Sorted(maps.Keys(r.resources)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
		if s := r.resources[name]; len(s.uuids) > 0 {
			ids := slices.SortedFunc(maps.Keys(s.uuids), func(x, y uuid.UUID) int { return bytes.Compare(x[:], y[:]) })
			b = appendList(b, ids, func(b []byte, id uuid.UUID, _ int) []byte {
				return append(append(append(b, '"'), id.String()...), '"')
			})
		} else {
			b = appendList(b, slices.Sorted(maps.Keys(s.int64s)), strconv.AppendInt)
		}
	}
	b = append(b, `},"requests":`...)
	b = appendList(b, requests, func(b []byte, id string, _ int) []byte { return strconv.AppendQuote(b, id) })
	if siteLifted {
		b = append(b, `,"site_limit_lifted":true`...)
	}
	return append(b, '}')
}

// appendList appends a JSON array.
func appendList[T any](b []byte, all []T, one func(b []byte, v T, base int) []byte) []byte {
	b = append(b, '[')
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v, 10)
	}
	return append(b, ']')
}
