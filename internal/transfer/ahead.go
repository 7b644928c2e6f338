package transfer

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// portion is what is read of a file for one batch.
type portion struct {
	records []*record
	offset  int64 // how far the file has been read, in bytes
	end     bool  // it is the last one
	err     error // why there are no more
}

// readAhead reads a file in a goroutine of its own, so that the next portion is
// there when the one before is stored: at most two are held besides those. The
// first rows, which an import that was stopped has stored, are left out. stop
// ends it early, and has to be called before the source is closed.
func (im *importer) readAhead(p *plan, s *source, stored int) (portions <-chan portion, stop func()) {
	system, country := im.source, im.practice.country
	// What is derived of new patients takes longest, and needs nothing from the
	// database. It is derived again of those who are there after all.
	derives := im.first.Load() && p.entity.table == "patients"
	out, stopped := make(chan portion), make(chan struct{})
	go func() {
		defer close(out)
		seen := map[fingerprint]int32{}
		for end := false; !end; {
			select {
			case <-stopped: // also where the last portion was taken out to end this
				return
			default:
			}
			var next portion
			for len(next.records) < batchRows {
				row, err := s.next()
				if next.end = errors.Is(err, io.EOF); next.end {
					break
				}
				if err != nil {
					next.err = err
					break
				}
				r := p.take(row)
				r.before = p.seenBefore(r, seen)
				if stored > 0 {
					stored--
					continue
				}
				p.complete(r, system)
				if derives && len(r.problems) == 0 {
					p.entity.derive(r, country)
					r.derived = true
				}
				next.records = append(next.records, r)
			}
			next.offset, end = s.offset(), next.end || next.err != nil
			select {
			case out <- next:
			case <-stopped:
				return
			}
		}
	}()
	return out, func() {
		close(stopped)
		for range out { // until it has ended
		}
	}
}

// seenBefore gives the line of an earlier row for the same record, 0 for none, and
// remembers this one: 20 bytes of memory for each row of the file. A file without
// ids has records that can be there only once.
func (p *plan) seenBefore(r *record, seen map[fingerprint]int32) int {
	name := r.legacy
	switch {
	case r.row.message != "":
		return 0
	case len(p.id) == 0 && !p.lineID:
		name = p.onlyOnce(r)
	}
	if name == "" {
		return 0
	}
	key := fingerprintOf(name)
	if before, ok := seen[key]; ok {
		return int(before)
	}
	seen[key] = int32(r.line)
	return 0
}

// onlyOnce is what a row says in the columns that no two records of its entity
// have in common, "" where it leaves one of each such key out.
func (p *plan) onlyOnce(r *record) string {
	for _, key := range p.entity.unique {
		if said := p.says(r, key); said != "" {
			return said
		}
	}
	return ""
}

// says is what a row says in the columns of a key, "" where it leaves one out.
func (p *plan) says(r *record, key uniqueKey) (said string) {
	if t := p.target(key.without); t != nil && p.text(t, r.cells) != "" {
		return ""
	}
	for _, column := range key.columns {
		if column == "practice_id" {
			continue
		}
		t := p.target(column)
		if t == nil || p.text(t, r.cells) == "" {
			return ""
		}
		said += strings.ToLower(p.text(t, r.cells)) + "\x00"
	}
	return said
}

// record makes a record of a row that was read before.
func (p *plan) record(row sourceRow, system string, before int) *record {
	r := p.take(row)
	r.before = before
	p.complete(r, system)
	return r
}

// complete reads the values of a record, and refuses one that an earlier row is of.
func (p *plan) complete(r *record, system string) {
	p.read(r, system)
	if r.before > 0 {
		field := legacyID
		if len(p.id) == 0 && !p.lineID {
			field = p.entity.unique[0].last()
		}
		r.refuse(field, fmt.Sprintf("occurs already in line %d", r.before))
	}
}
