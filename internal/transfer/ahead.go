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
		seen, err := im.sightings(p)
		for end := false; !end; {
			select {
			case <-stopped: // also where the last portion was taken out to end this
				return
			default:
			}
			next := portion{err: err}
			for next.err == nil && len(next.records) < batchRows {
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

// sightings are the records of one file, by the lines of their rows.
type sightings struct {
	file  string
	lines map[fingerprint]int32
}

// sightings are those of the files of the same entity that were read before, and
// last the empty ones of this file. Another file may count its rows from one
// again: without them its rows would change the records of the first.
func (im *importer) sightings(p *plan) (list []sightings, err error) {
	for _, other := range im.plans {
		if other.entity != p.entity {
			continue
		}
		list = append(list, sightings{other.name, map[fingerprint]int32{}})
		if other == p {
			break
		}
		if err := other.lookOver(list); err != nil {
			return nil, fmt.Errorf("%s: %w", other.name, err)
		}
	}
	return list, nil
}

// lookOver remembers the records of a file.
func (p *plan) lookOver(seen []sightings) error {
	s, err := p.open()
	if err != nil {
		return err
	}
	defer s.close()
	for {
		row, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.seenBefore(p.take(row), seen)
	}
}

// seenBefore names the line of an earlier row for the same record, "" for none, and
// remembers this one: 20 bytes of memory for each row of the file. A file without
// ids has records that can be there only once.
func (p *plan) seenBefore(r *record, seen []sightings) string {
	name := r.legacy
	switch {
	case r.row.message != "":
		return ""
	case p.withoutIDs():
		name = p.onlyOnce(r)
	}
	if name == "" {
		return ""
	}
	if before := lineIn(seen, name); before != "" {
		return before
	}
	seen[len(seen)-1].lines[fingerprintOf(name)] = int32(r.line)
	return ""
}

// lineIn names the line of a record, of the last file without the file's name; "" for
// none.
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
	alike := func(t *target, s string) string {
		switch {
		case t.namesLegacyID():
			return p.identity(s)
		case t.role == reference && t.by == "":
			return fold(p.identity(s))
		case t.role == reference && t.by != "id":
			return fold(s)
		}
		return strings.ToLower(s)
	}
	for _, column := range key.columns {
		if column == "practice_id" {
			continue
		}
		t := p.target(column)
		if t == nil {
			return ""
		}
		s := p.text(t, r.cells)
		if s == "" {
			return ""
		}
		said += alike(t, s) + "\x00"
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
			field = p.entity.unique[0].last()
		}
		r.refuse(field, "occurs already in "+r.before)
	}
}
