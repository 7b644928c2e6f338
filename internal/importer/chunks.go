package importer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"chairside/internal/entx/table"
)

// portion is what is read of a file for one batch.
type portion struct {
	records []*record
	offset  int64 // how far the file has been read, in bytes
	end     bool  // it is the last one
}

// readAhead reads a file while the portions before are stored: at most two are held besides
// those. The first rows, which an import that was stopped has stored, are left out.
func (im *importer) readAhead(ctx context.Context, p *plan, s *source, stored int, portions chan<- portion) error {
	seen, err := im.sightings(p)
	if err != nil {
		return err
	}
	// What is derived of new patients takes longest, and needs nothing from the database. It is
	// derived again of those who are there after all.
	derives := im.first.Load() && p.entity.Name == "patients"
	for next := (portion{}); !next.end; {
		next = portion{}
		for len(next.records) < batchRows {
			row, err := s.next()
			if next.end = errors.Is(err, io.EOF); next.end {
				break
			}
			if err != nil {
				return err
			}
			r := p.take(row)
			r.before = p.seenBefore(r, seen)
			if stored > 0 {
				stored--
				continue
			}
			p.complete(r, im.source)
			if derives && len(r.problems) == 0 {
				im.derive(p.entity, r)
				r.derived = true
			}
			next.records = append(next.records, r)
		}
		next.offset = s.offset()
		select {
		case portions <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sightings are the records of one file, by the lines of their rows.
type sightings struct {
	file  string
	lines map[fingerprint]int32
}

// fingerprint stands for the id of a record in memory.
type fingerprint [16]byte

func fingerprintOf(s string) fingerprint {
	sum := sha256.Sum256([]byte(s))
	return fingerprint(sum[:16])
}

// sightings are those of the files of the same entity that were read before, and last the empty
// ones of this file. Another file may count its rows from one again: without them its rows would
// change the records of the first.
func (im *importer) sightings(p *plan) (list []sightings, err error) {
	for _, other := range im.plans {
		if other.entity != p.entity {
			continue
		}
		list = append(list, sightings{other.name, map[fingerprint]int32{}})
		if other == p {
			break
		}
		for r, err := range other.records() {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", other.name, err)
			}
			other.seenBefore(r, list)
		}
	}
	return list, nil
}

// records reads a file, and does not yet read the values of its rows.
func (p *plan) records() func(yield func(*record, error) bool) {
	return func(yield func(*record, error) bool) {
		s, err := p.open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.close()
		for {
			row, err := s.next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			case !yield(p.take(row), nil):
				return
			}
		}
	}
}

// seenBefore names the line of an earlier row for the same record, "" for none, and remembers
// this one: 20 bytes of memory for each row of the file. A file without ids has records that can
// be there only once.
func (p *plan) seenBefore(r *record, seen []sightings) string {
	name := r.legacy
	if r.row.message == "" && p.withoutIDs() {
		name = p.onlyOnce(r)
	}
	if name == "" || r.row.message != "" {
		return ""
	}
	if before := lineIn(seen, name); before != "" {
		return before
	}
	seen[len(seen)-1].lines[fingerprintOf(name)] = int32(r.line)
	return ""
}

// lineIn names the line of a record, of the last file without the file's name; "" for none.
func lineIn(list []sightings, name string) string {
	key := fingerprintOf(name)
	for i, s := range list {
		switch line, ok := s.lines[key]; {
		case ok && i == len(list)-1:
			return fmt.Sprintf("line %d", line)
		case ok:
			return fmt.Sprintf("line %d of %s", line, s.file)
		}
	}
	return ""
}

// onlyOnce is what a row says in the columns that no two records of its entity have in common, ""
// where it leaves one of each such key out.
func (p *plan) onlyOnce(r *record) string {
	for _, key := range p.entity.Unique {
		if said := p.says(r, key); said != "" {
			return said
		}
	}
	return ""
}

// says is what a row says in the columns of a key, "" where it leaves one out.
func (p *plan) says(r *record, key table.Key) (said string) {
	if t := p.target(key.Unless); t != nil && p.text(t, r.cells) != "" {
		return ""
	}
	for _, column := range key.Columns {
		if column == "practice_id" {
			continue
		}
		t := p.target(column)
		if t == nil {
			return ""
		}
		s := p.text(t, r.cells)
		switch {
		case s == "":
			return ""
		case t.namesLegacyID():
			s = p.identity(s)
		case t.role == reference && t.by == "":
			s = fold(p.identity(s))
		case t.role == reference && t.by != "id":
			s = fold(s)
		default:
			s = strings.ToLower(s)
		}
		said += s + "\x00"
	}
	return said
}

// record makes a record of a row that was read before.
func (p *plan) record(row sourceRow, system string, before string) *record {
	r := p.take(row)
	r.before = before
	p.complete(r, system)
	return r
}

// complete reads the values of a record, and refuses one that an earlier row is of.
func (p *plan) complete(r *record, system string) {
	p.read(r, system)
	if r.before != "" {
		field := legacyID
		if p.withoutIDs() {
			field = p.entity.Unique[0].Last()
		}
		r.refuse(field, "occurs already in "+r.before)
	}
}

// turn is the place of a batch among those that are stored at the same time.
//
//	numbers │ rows │ changes, ids, progress, commit
//	        │ numbers │ rows     waits               │ changes, ids, progress, commit
//
// Ids are given out, and transactions end, in the order of the rows of the file: what a stopped
// import has stored is the beginning of the file, and the result does not depend on which batch was
// faster.
// After a batch that fails, no later batch ends.
type turn struct {
	work            context.Context // of all batches; over when one has failed
	numbering       sync.Once
	numbered, ended chan struct{} // closed when this one has its ids, and is stored
	before          struct{ numbered, ended <-chan struct{} }
}

// firstTurn returns a turn that is over, for the first batch to follow.
func firstTurn() *turn {
	t := &turn{numbered: make(chan struct{}), ended: make(chan struct{})}
	t.number()
	t.end()
	return t
}

// next is the turn after t.
func (t *turn) next(work context.Context) *turn {
	after := &turn{work: work, numbered: make(chan struct{}), ended: make(chan struct{})}
	after.before.numbered, after.before.ended = t.numbered, t.ended
	return after
}

// mayNumber waits until the batch before has its ids.
func (t *turn) mayNumber() error { return t.wait(t.before.numbered) }

// number says that the batch has its ids. One that is tried again gets others.
func (t *turn) number() { t.numbering.Do(func() { close(t.numbered) }) }

// mayEnd waits until the batch before is stored.
func (t *turn) mayEnd() error { return t.wait(t.before.ended) }

// end says that the batch is stored.
func (t *turn) end() { close(t.ended) }

// wait waits for the batch before, unless that will never come. What comes after this one does
// not matter.
func (t *turn) wait(before <-chan struct{}) error {
	select {
	case <-before:
		return nil
	default:
	}
	select {
	case <-before:
		return nil
	case <-t.work.Done():
		return t.work.Err()
	}
}
