package importer

import (
	"fmt"
	"slices"

	"chairside/internal/entx/table"
)

// matchByLegacyID finds the rows that earlier imports made of the records.
func (b *batch) matchByLegacyID() {
	e, first := b.plan.entity, b.firstImport.Load()
	if first && !e.Has(legacyID) {
		return
	}
	var rawIDs []string
	for _, r := range b.records {
		if r.legacyID != "" {
			rawIDs = append(rawIDs, r.rawID)
		}
	}
	found := b.plan.newLegacySearch(e, rawIDs)
	if !first {
		found.searchImported(b)
	}
	found.searchRows(b)
	for _, r := range b.records {
		matches := found.matches[r.rawID]
		switch {
		case r.legacyID == "" || len(matches) == 0:
		case len(matches) > 1:
			r.reject(legacyID, "belongs to more than one record")
		default:
			r.id, r.savedSpellings = e.id(matches[0].id), matches[0].spellings
		}
	}
	b.readExisting()
}

// legacySearch finds rows of an entity by legacy IDs.
type legacySearch struct {
	entity    *entity
	spellings []any                    // of all legacy IDs
	rawIDs    map[string][]string      // by spelling, the IDs as the file spells them
	matches   map[string][]legacyMatch // by ID as the file spells it; several if its spellings belong to different rows
}

// legacyMatch is a row with a legacy ID.
type legacyMatch struct {
	id        string
	spellings []string // the legacy ID in imported_records; none if only the row itself has it
}

// newLegacySearch prepares the search for IDs as the file of the plan spells them.
func (p *plan) newLegacySearch(e *entity, rawIDs []string) *legacySearch {
	s := &legacySearch{entity: e, rawIDs: map[string][]string{}, matches: map[string][]legacyMatch{}}
	for _, rawID := range rawIDs {
		for _, spelling := range p.spellings(rawID) {
			if s.rawIDs[spelling] == nil {
				s.spellings = append(s.spellings, spelling)
			}
			s.rawIDs[spelling] = append(s.rawIDs[spelling], rawID)
		}
	}
	return s
}

func (s *legacySearch) add(rawID, id string, spellings ...string) {
	matches := s.matches[rawID]
	k := slices.IndexFunc(matches, func(m legacyMatch) bool { return m.id == id })
	if k < 0 {
		k = len(matches)
		matches = append(matches, legacyMatch{id: id})
	}
	matches[k].spellings = append(matches[k].spellings, spellings...)
	s.matches[rawID] = matches
}

// searchImported searches imported_records.
func (s *legacySearch) searchImported(b *batch) {
	b.queryImported(s.entity, "legacy_id", s.spellings, func(spelling, id string) {
		for _, rawID := range s.rawIDs[spelling] {
			s.add(rawID, id, spelling)
		}
	})
}

// searchRows searches the legacy_id of rows, which API clients can write, for IDs that
// searchImported has not found. It ignores rows that were imported from another system, where the
// same ID means another record.
func (s *legacySearch) searchRows(b *batch) {
	if !s.entity.Has(legacyID) {
		return
	}
	found := map[string]bool{}
	for rawID := range s.matches {
		found[rawID] = true
	}
	missing := slices.DeleteFunc(slices.Clone(s.spellings), func(spelling any) bool {
		return !slices.ContainsFunc(s.rawIDs[asText(spelling)], func(rawID string) bool { return !found[rawID] })
	})
	spellings := map[string]string{} // by the IDs of rows
	var ids []any
	b.queryIn("SELECT legacy_id, id FROM "+table.Quote(s.entity.Name)+" WHERE practice_id = $1", "legacy_id", missing, func(v []any) {
		id := asText(v[1])
		spellings[id], ids = asText(v[0]), append(ids, id)
	})
	b.queryIn("SELECT record_id FROM imported_records WHERE practice_id = $1 AND source <> $2 AND resource = $3", "record_id", ids,
		func(v []any) { delete(spellings, asText(v[0])) }, b.system, s.entity.Name)
	for id, spelling := range spellings {
		for _, rawID := range s.rawIDs[spelling] {
			if !found[rawID] {
				s.add(rawID, id)
			}
		}
	}
}

// queryImported reads the imported_records of an entity whose column has one of the values.
func (b *batch) queryImported(e *entity, column string, in []any, each func(legacyID, id string)) {
	b.queryIn("SELECT legacy_id, record_id FROM imported_records WHERE practice_id = $1 AND source = $2 AND resource = $3", column, in,
		func(v []any) { each(asText(v[0]), asText(v[1])) }, b.system, e.Name)
}

// legacyIDs returns the legacy IDs of rows by their IDs. If a row has several, it is the first in
// byte order.
func (b *batch) legacyIDs(e *entity, ids []any) map[string]string {
	first := map[string]string{}
	b.queryImported(e, "record_id", ids, func(legacyID, id string) {
		if before, ok := first[id]; !ok || legacyID < before {
			first[id] = legacyID
		}
	})
	return first
}

// readExisting reads the rows of the records that have an ID. A row that is not there was
// deleted.
func (b *batch) readExisting() {
	e := b.plan.entity
	byID := map[string]*record{}
	var ids []any
	for _, r := range b.records {
		if r.id == nil || r.existing != nil || r.rejected() {
			continue
		}
		id := asText(r.id)
		if byID[id] != nil {
			r.reject(legacyID, fmt.Sprintf("belongs to the same record as line %d", byID[id].source.line))
			continue
		}
		byID[id] = r
		ids = append(ids, r.id)
	}
	columns := e.Names()
	if b.rereading {
		columns = slices.DeleteFunc(columns, func(name string) bool { return name != "id" && !e.isTotal(name) })
	}
	b.selectIn(e, columns, "id", ids, func(r row) { byID[asText(r["id"])].existing = r })
	for _, r := range byID {
		r.deleted = r.existing == nil
	}
}
