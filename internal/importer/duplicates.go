package importer

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"chairside/internal/entx/table"
)

// lineIndex remembers on which lines of a file keys occur: legacy IDs or IDs of rows. It takes
// about 20 bytes for each.
type lineIndex struct {
	file  string
	lines map[fingerprint]int32
}

// fingerprint is a hash of a key, which takes less memory than the key.
type fingerprint [16]byte

func fingerprintOf(key string) fingerprint {
	sum := sha256.Sum256([]byte(key))
	return fingerprint(sum[:16])
}

// lineIndexes are the indexes of the files of one entity, in the order in which they are read.
// The last file is the current one.
type lineIndexes []lineIndex

func (l *lineIndexes) startFile(name string) {
	*l = append(*l, lineIndex{name, map[fingerprint]int32{}})
}

func (l lineIndexes) add(key string, line int) {
	l[len(l)-1].lines[fingerprintOf(key)] = int32(line)
}

// find returns where a key occurs: "line 3" of the current file, "line 3 of x.csv" for another
// one, or "".
func (l lineIndexes) find(key string) string {
	print := fingerprintOf(key)
	for i, index := range l {
		switch line, ok := index.lines[print]; {
		case ok && i == len(l)-1:
			return fmt.Sprintf("line %d", line)
		case ok:
			return fmt.Sprintf("line %d of %s", line, index.file)
		}
	}
	return ""
}

// findOrAdd returns where a key occurs, or adds it and returns "". It ignores the key "".
func (l lineIndexes) findOrAdd(key string, line int) (found string) {
	if key == "" {
		return ""
	}
	if found = l.find(key); found == "" {
		l.add(key, line)
	}
	return found
}

// rowsSeen indexes the earlier files of a plan's entity by duplicateKey, and adds an empty
// index for its own file. Two files may both number their rows from 1: without the check, the
// rows of the second would update the records of the first.
func (im *importer) rowsSeen(p *plan) (seen lineIndexes, err error) {
	for _, i := range im.filesOfEntity(p) {
		file := im.plans[i]
		seen.startFile(file.name)
		if file == p {
			break
		}
		for r, err := range file.rows() {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file.name, err)
			}
			seen.findOrAdd(file.duplicateKey(r), r.source.line)
		}
	}
	return seen, nil
}

// filesOfEntity returns the indexes of the plans for the entity of p, up to p itself.
func (im *importer) filesOfEntity(p *plan) (indexes []int) {
	for i, other := range im.plans {
		if other.entity == p.entity {
			indexes = append(indexes, i)
		}
		if other == p {
			break
		}
	}
	return indexes
}

// duplicateKey returns what two rows of the same record have in common: the legacy ID, or in a
// file without IDs the texts of a unique key. It returns "" if the row has neither.
func (p *plan) duplicateKey(r *record) string {
	if r.source.message != "" {
		return ""
	}
	if p.hasIDs() {
		return r.legacyID
	}
	for _, key := range p.entity.Unique {
		if text := p.keyText(r, key); text != "" {
			return text
		}
	}
	return ""
}

// keyText returns the texts of a row for the columns of a unique key, or "" if one is blank.
func (p *plan) keyText(r *record, key table.Key) (texts string) {
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
		case t.isLegacyID():
			s = p.normalizeID(s)
		case t.role == reference && t.by == "": // a legacy ID or a name
			s = foldName(p.normalizeID(s))
		case t.role == reference && t.by != "id":
			s = foldName(s)
		default:
			s = strings.ToLower(s)
		}
		texts += s + "\x00"
	}
	return texts
}

// startWritten prepares im.written for a file. It does nothing if all files of the entity have
// IDs. A resumed import rebuilds the indexes of earlier files and of the stored part of this
// one.
func (im *importer) startWritten(p *plan) error {
	if im.writtenEntity != p.entity {
		im.writtenEntity, im.written = p.entity, nil
	}
	withoutIDs := func(other *plan) bool { return other.entity == p.entity && !other.hasIDs() }
	if len(p.entity.Unique) == 0 || !slices.ContainsFunc(im.plans, withoutIDs) {
		return nil
	}
	for _, i := range im.filesOfEntity(p)[len(im.written):] {
		file := im.plans[i]
		im.written.startFile(file.name)
		if rows := im.checkpoint.Files[i].Rows; rows > 0 {
			if err := im.reread(file, rows, func(b *batch) { im.rememberWritten(b.records) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// rememberWritten adds the rows of accepted records to im.written, if that is in use.
func (im *importer) rememberWritten(records []*record) {
	if len(im.written) == 0 {
		return
	}
	for _, r := range records {
		if r.id != nil && !r.rejected() {
			im.written.add(asText(r.id), r.source.line)
		}
	}
}
