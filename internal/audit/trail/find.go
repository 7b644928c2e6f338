package trail

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/ent/auditread"
	"chairside/ent/predicate"
	"chairside/internal/civil"
	"chairside/internal/entx/table"
)

// AboutPatient selects the writes and the reads of a patient's records, each through an index. On
// PostgreSQL the ids are an array: the planner would expect every id in every partition and rather
// read all events of the practice.
func AboutPatient(practice uuid.UUID, patient int64) predicate.AuditEvent {
	return func(s *sql.Selector) {
		reads, writes := sql.Table(auditread.Table), sql.Table(auditevent.Table).As("writes")
		events := sql.Select(reads.C(auditread.FieldEventID)).From(reads).
			Where(sql.And(sql.EQ(reads.C(auditread.FieldPracticeID), practice), sql.EQ(reads.C(auditread.FieldPatientID), patient))).
			UnionAll(sql.Select(writes.C(auditevent.FieldID)).From(writes).
				Where(sql.And(sql.EQ(writes.C(auditevent.FieldPracticeID), practice), sql.EQ(writes.C(auditevent.FieldPatientID), patient))))
		if s.Dialect() != dialect.Postgres {
			s.Where(sql.In(s.C(auditevent.FieldID), events))
			return
		}
		s.Where(sql.P(func(b *sql.Builder) {
			b.Ident(s.C(auditevent.FieldID)).WriteString(" = ANY (ARRAY(").Join(events).WriteString("))")
		}))
	}
}

// OnDay selects the events of a local day.
func OnDay(day civil.Date, zone *time.Location) predicate.AuditEvent {
	return auditevent.And(auditevent.AtGTE(day.In(zone).UTC()), auditevent.AtLT(day.AddDays(1).In(zone).UTC()))
}

// shownIDs is the most ids of a resource that Records names.
const shownIDs = 10

// Records describes what an event of reads has read, by resource: "patients 3, 7".
func Records(e *ent.AuditEvent) (all []string) {
	var details struct{ Records map[string][]any }
	decoder := json.NewDecoder(bytes.NewReader(e.Details.Text))
	decoder.UseNumber()
	if decoder.Decode(&details) != nil { // somebody has changed it
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(details.Records)) {
		ids := details.Records[name]
		var words []string
		for _, id := range ids[:min(len(ids), shownIDs)] {
			words = append(words, fmt.Sprint(id))
		}
		text := table.Words(name) + " " + strings.Join(words, ", ")
		if more := len(ids) - shownIDs; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, text)
	}
	return all
}

// SiteLift reports whether a token caused an event while its limit to a site was lifted, and for
// which reason the event lifted such a limit; "" for other events.
func SiteLift(e *ent.AuditEvent) (lifted bool, reason string) {
	var details struct {
		Lifted bool `json:"site_limit_lifted"`
		New    struct {
			Reason string `json:"site_lift_reason"`
		}
	}
	if json.Unmarshal(e.Details.Text, &details) != nil { // somebody has changed it, or there are none
		return false, ""
	}
	if e.Resource == nil || *e.Resource != ent.TypeAccessToken {
		return details.Lifted, ""
	}
	return details.Lifted, details.New.Reason
}
