package audit

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Log is the ids a request has read, by resource. It is safe for concurrent
// use; a nil Log forgets what it is told.
type Log struct {
	mu   sync.Mutex
	read []*records
}

// records are the ids of one resource, with repetitions.
type records struct {
	resource string
	numbers  []int64
	uuids    []uuid.UUID
}

type key struct{}

// With returns a context that collects into a new, empty Log.
func With(ctx context.Context) (context.Context, *Log) {
	l := &Log{}
	return context.WithValue(ctx, key{}, l), l
}

// From gives the Log of the context, nil where there is none, as on the command line.
func From(ctx context.Context) *Log {
	l, _ := ctx.Value(key{}).(*Log)
	return l
}

// Note adds the id of a record that has been read.
func (l *Log) Note(resource string, id int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(resource)
	r.numbers = append(r.numbers, id)
}

// NoteUUID is Note for resources whose ids are uuids.
func (l *Log) NoteUUID(resource string, id uuid.UUID) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(resource)
	r.uuids = append(r.uuids, id)
}

// Add notes all that another Log was told: a list may be read in a way that turns
// out not to be the one to answer with.
func (l *Log) Add(other *Log) {
	if l == nil || other == nil || l == other {
		return
	}
	other.mu.Lock()
	defer other.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, read := range other.read {
		r := l.of(read.resource)
		r.numbers, r.uuids = append(r.numbers, read.numbers...), append(r.uuids, read.uuids...)
	}
}

// of finds the few resources of a request faster than a map would.
func (l *Log) of(resource string) *records {
	for _, r := range l.read {
		if r.resource == resource {
			return r
		}
	}
	r := &records{resource: resource}
	l.read = append(l.read, r)
	return r
}

// Empty reports whether nothing has been noted.
func (l *Log) Empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.read) == 0
}

// LogValue renders the ids as one group: resource → ids, both sorted, each id once.
func (l *Log) LogValue() slog.Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.read, func(a, b *records) int { return strings.Compare(a.resource, b.resource) })
	attrs := make([]slog.Attr, len(l.read))
	for i, r := range l.read {
		slices.Sort(r.numbers)
		slices.SortFunc(r.uuids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		r.numbers, r.uuids = slices.Compact(r.numbers), slices.Compact(r.uuids)
		attrs[i] = slog.Any(r.resource, &list{slices.Clone(r.numbers), slices.Clone(r.uuids)})
	}
	return slog.GroupValue(attrs...)
}

// list prints itself: a page of a hundred patients would cost a general
// formatter as much as reading some of them.
type list struct {
	numbers []int64
	uuids   []uuid.UUID
}

// MarshalJSON gives an array of strings, for logs in JSON.
func (l *list) MarshalJSON() ([]byte, error) { return l.text(`"`, ","), nil }

// MarshalText gives [3 7], for logs in plain text.
func (l *list) MarshalText() ([]byte, error) { return l.text("", " "), nil }

func (l *list) text(quote, between string) []byte {
	const number, unique = 12, 39 // about what an id takes
	text := append(make([]byte, 0, 2+number*len(l.numbers)+unique*len(l.uuids)), '[')
	next := func() {
		if len(text) > 1 {
			text = append(text, between...)
		}
	}
	for _, id := range l.numbers {
		next()
		text = append(text, quote...)
		text = strconv.AppendInt(text, id, 10)
		text = append(text, quote...)
	}
	for _, id := range l.uuids {
		next()
		text = append(text, quote...)
		text = append(text, id.String()...)
		text = append(text, quote...)
	}
	return append(text, ']')
}
