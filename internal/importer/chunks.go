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

// readChunks reads a file while earlier chunks are stored. At most two chunks wait to be stored: one
// here and one in the receiver of the channel.
func (l *fileLoad) readChunks(ctx context.Context, s *sourceReader, chunks chan<- chunk) error {
	seen, err := l.rowsSeen(l.plan)
	if err != nil {
		return err
	}
	r := chunkReader{fileLoad: l, source: s, seen: seen, skip: l.checkpoint.Files[l.index].Rows}
	for {
		next, err := r.next()
		if err != nil {
			return err
		}
		select {
		case chunks <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
		if next.last {
			return nil
		}
	}
}

// chunkReader reads the chunks of one file.
type chunkReader struct {
	*fileLoad
	source *sourceReader
	seen   lineIndexes
	skip   int // rows that an interrupted import has stored
}

// next returns the next chunk. The last one may be empty.
func (r *chunkReader) next() (c chunk, err error) {
	for len(c.records) < batchRows && !c.last {
		row, err := r.source.next()
		switch {
		case errors.Is(err, io.EOF):
			c.last = true
			continue
		case err != nil:
			return c, err
		}
		record := r.plan.newRecord(row)
		record.duplicateOf = r.seen.findOrAdd(r.plan.duplicateKey(record), row.line)
		if r.skip > 0 {
			r.skip--
			continue
		}
		r.parse(record)
		c.records = append(c.records, record)
	}
	c.offset = r.source.offset()
	return c, nil
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
