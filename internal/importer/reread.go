package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// reread reads the first rows of a file again, which were stored before. It calls each with
// batches of the records that were not rejected, matched with the rows that they have become.
func (im *importer) reread(p *plan, rows int, each func(b *batch)) error {
	rejected, err := rejectedLines(filepath.Join(im.outDir, p.rejects))
	if err != nil {
		return err
	}
	im.forgetNames()
	var records []*record
	flush := func() error {
		defer func() { records = nil }()
		return im.inTx(p, func(b *batch) {
			b.rereading, b.records = true, records
			b.matchAgain()
			each(b)
		})
	}
	for r, err := range p.rows() {
		switch {
		case err != nil:
			return err
		case rows == 0:
			return flush()
		case !rejected[r.source.line]:
			records = append(records, r)
		}
		if rows--; len(records) == batchRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// matchAgain finds the rows of stored records by their legacy IDs, or without IDs by their unique
// keys.
func (b *batch) matchAgain() {
	if b.plan.hasIDs() {
		b.run(b.matchByLegacyID)
		return
	}
	for _, r := range b.records {
		b.plan.parseValues(r)
	}
	b.run(b.resolveReferences, b.readParents, b.matchByUniqueKey)
}

// rejectedLines returns the line numbers in a file of rejects.
func rejectedLines(path string) (map[int]bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord, reader.ReuseRecord = -1, true
	rejected := map[int]bool{}
	for {
		cells, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rejected, nil
		case err != nil:
			return nil, fmt.Errorf("read the rejects: %w", err)
		}
		if line, err := strconv.Atoi(cells[0]); err == nil { // not the header
			rejected[line] = true
		}
	}
}
