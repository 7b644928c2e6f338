package importer

import (
	"context"
	"errors"
	"io"
)

// chunk is the part of a file that one batch stores.
type chunk struct {
	records []*record
	offset  int64 // how far the file has been read, in bytes
	last    bool
}

// readChunks reads a file while earlier chunks are stored. It skips the rows that an interrupted
// import has stored. At most two chunks wait: one here and one in the channel's receiver.
func (l *fileLoad) readChunks(ctx context.Context, s *sourceReader, chunks chan<- chunk) error {
	seen, err := l.rowsSeen(l.plan)
	if err != nil {
		return err
	}
	skip := l.checkpoint.Files[l.index].Rows
	for next := (chunk{}); !next.last; {
		next = chunk{}
		for len(next.records) < batchRows {
			row, err := s.next()
			if next.last = errors.Is(err, io.EOF); next.last {
				break
			}
			if err != nil {
				return err
			}
			r := l.plan.newRecord(row)
			r.duplicateOf = seen.findOrAdd(l.plan.duplicateKey(r), row.line)
			if skip > 0 {
				skip--
				continue
			}
			l.parse(r)
			next.records = append(next.records, r)
		}
		next.offset = s.offset()
		select {
		case chunks <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// parse reads the values of a record. It also derives columns of new patients, which is slow and
// needs no database. Should the patient exist after all, they are derived again.
func (l *fileLoad) parse(r *record) {
	l.plan.parse(r)
	if l.firstImport.Load() && l.plan.entity.Name == "patients" && !r.rejected() {
		l.derive(l.plan.entity, r)
		r.derived = true
	}
}

// rows reads the rows of a file as records without values.
func (p *plan) rows() func(yield func(*record, error) bool) {
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
			case !yield(p.newRecord(row), nil):
				return
			}
		}
	}
}
