package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Log holds the ids that a request has read, by resource, and what else it must leave in the
// audit log. It is safe for concurrent use; a nil Log ignores all notes.
type Log struct {
	// RequestID and Operation name the request in the entries of its writes. They are set
	// before the operation runs.
	RequestID, Operation string

	mu       sync.Mutex
	read     []*records
	patients []int64 // whose records were read; with duplicates
	events   []Event
	taken    struct{ patients, events int } // as in records
}

// Event is an entry of the audit log that is no write: a sign-in, a refusal, a report.
type Event struct {
	Action   string    // of schema.AuditActions
	Practice uuid.UUID // zero for that of the caller
	Record   string    // what the event is about: the name of a report
	User     int64     // 0 for the caller
	Session  uuid.UUID // zero for that of the caller
	// Browser is the family and system of a browser that signs in; Network is its address without
	// the last part. They are for the audit log only, never for the server's log.
	Browser, Network string
	// Method is how someone signs in: "passkey", or "" for a password.
	Method string
	// Reason says more: "second_factor_needed" of a failed sign-in; which sessions were ended, of a sign-out by another
	// session; or "".
	Reason string
}

// records holds the ids of one resource, with duplicates.
type records struct {
	resource string
	int64s   []int64
	uuids    []uuid.UUID
	taken    struct{ int64s, uuids int } // how many of them TakeReads has returned
}

type key struct{}

// With returns a context that collects into a new, empty Log. The new Log has the request of the one that ctx had.
func With(ctx context.Context) (context.Context, *Log) {
	l := &Log{}
	if outer := From(ctx); outer != nil {
		l.RequestID, l.Operation = outer.RequestID, outer.Operation
	}
	return context.WithValue(ctx, key{}, l), l
}

// From returns the Log of the context, or nil if it has none, as on the command line.
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
	r := l.recordsOf(resource)
	r.int64s = append(r.int64s, id)
}

// NoteUUID is Note for resources whose ids are uuids.
func (l *Log) NoteUUID(resource string, id uuid.UUID) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.recordsOf(resource)
	r.uuids = append(r.uuids, id)
}

// Patient notes a patient whose records have been read.
func (l *Log) Patient(id int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patients = append(l.patients, id)
}

// Event adds an event, which is written after the request.
func (l *Log) Event(e Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// TakeEvents returns the events since the last call.
func (l *Log) TakeEvents() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := l.events[l.taken.events:]
	l.taken.events = len(l.events)
	return events
}

// TakeReads returns the reads noted since the last call, or nil if there are none. They stay in l,
// for Add and Marshal.
func (l *Log) TakeReads() (reads *Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.read {
		int64s, uuids := r.int64s[r.taken.int64s:], r.uuids[r.taken.uuids:]
		if len(int64s)+len(uuids) == 0 {
			continue
		}
		r.taken.int64s, r.taken.uuids = len(r.int64s), len(r.uuids)
		if reads == nil {
			reads = &Log{RequestID: l.RequestID, Operation: l.Operation}
		}
		reads.read = append(reads.read, &records{resource: r.resource, int64s: int64s, uuids: uuids})
	}
	if reads != nil {
		reads.patients = l.patients[l.taken.patients:]
		l.taken.patients = len(l.patients)
	}
	return reads
}

// Add adds the notes of another Log. A list may run a query and then discard its rows, so
// each such query notes into its own Log, which is added only if the rows are sent.
func (l *Log) Add(other *Log) {
	if l == nil || other == nil || l == other {
		return
	}
	other.mu.Lock()
	defer other.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, read := range other.read {
		r := l.recordsOf(read.resource)
		r.int64s, r.uuids = append(r.int64s, read.int64s...), append(r.uuids, read.uuids...)
	}
	l.patients = append(l.patients, other.patients...)
}

// noted is a Log as JSON.
type noted map[string]struct {
	IDs   []int64     `json:"ids,omitempty"`
	UUIDs []uuid.UUID `json:"uuids,omitempty"`
}

// patientsOf is the key of the patients whose records were read.
const patientsOf = "patients of records"

// Marshal returns the notes, for Unmarshal in a later request that sends the same records.
func (l *Log) Marshal() ([]byte, error) {
	notes := noted{}
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, r := range l.read {
			n := notes[r.resource]
			n.IDs, n.UUIDs = r.int64s, r.uuids
			notes[r.resource] = n
		}
		if len(l.patients) > 0 {
			n := notes[patientsOf]
			n.IDs = l.patients
			notes[patientsOf] = n
		}
	}
	return json.Marshal(notes)
}

// Unmarshal adds the notes that Marshal returned.
func (l *Log) Unmarshal(text []byte) error {
	var notes noted
	if err := json.Unmarshal(text, &notes); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	for resource, n := range notes {
		for _, id := range n.IDs {
			if resource == patientsOf {
				l.Patient(id)
			} else {
				l.Note(resource, id)
			}
		}
		for _, id := range n.UUIDs {
			l.NoteUUID(resource, id)
		}
	}
	return nil
}

// recordsOf returns the records of a resource. A request reads few resources, so a slice is
// faster than a map.
func (l *Log) recordsOf(resource string) *records {
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
		ids := idList{slices.Clone(r.int64s), slices.Clone(r.uuids)}
		slices.Sort(ids.int64s)
		slices.SortFunc(ids.uuids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		ids.int64s, ids.uuids = slices.Compact(ids.int64s), slices.Compact(ids.uuids)
		attrs[i] = slog.Any(r.resource, &ids)
	}
	return slog.GroupValue(attrs...)
}

// idList formats itself: encoding/json would take as long for the ids of 100 patients as
// reading some of the patients.
type idList struct {
	int64s []int64
	uuids  []uuid.UUID
}

// MarshalJSON returns an array of strings, for logs in JSON.
func (l *idList) MarshalJSON() ([]byte, error) { return l.text(`"`, ","), nil }

// MarshalText returns [3 7], for logs in plain text.
func (l *idList) MarshalText() ([]byte, error) { return l.text("", " "), nil }

func (l *idList) text(quote, separator string) []byte {
	const int64Size, uuidSize = 12, 39 // typical bytes of an id
	text := append(make([]byte, 0, 2+int64Size*len(l.int64s)+uuidSize*len(l.uuids)), '[')
	next := func() {
		if len(text) > 1 {
			text = append(text, separator...)
		}
	}
	for _, id := range l.int64s {
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
