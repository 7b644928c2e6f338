package transfer

import (
	"errors"
	"fmt"
	"io"
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

// seenBefore gives the line of an earlier row with the same legacy id, 0 for
// none, and remembers this one: 20 bytes of memory for each row of the file.
func (p *plan) seenBefore(r *record, seen map[fingerprint]int32) int {
	if r.legacy == "" || len(p.id) == 0 {
		return 0
	}
	key := fingerprintOf(r.legacy)
	if before, ok := seen[key]; ok {
		return int(before)
	}
	seen[key] = int32(r.line)
	return 0
}

// record makes a record of a row that was read before.
func (p *plan) record(row sourceRow, system string, before int) *record {
	r := p.take(row)
	r.before = before
	p.complete(r, system)
	return r
}

// complete reads the values of a record, and refuses one that has the legacy id
// of an earlier row.
func (p *plan) complete(r *record, system string) {
	p.read(r, system)
	if r.before > 0 {
		r.refuse(legacyID, fmt.Sprintf("occurs already in line %d", r.before))
	}
}
