package importer

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chairside/internal/civil"
	"chairside/internal/codec"
	"chairside/internal/entx/table"
)

// plan says how to read one file: its mapping, resolved against its header and the entity. A
// planner makes it.
type plan struct {
	name       string // of the file
	path       string
	size       int64  // in bytes
	rejects    string // name of the file of rejects
	system     string // the other system, as the mapping names it
	entity     *entity
	encoding   string
	nulls      []string // words for no value
	delimiter  rune
	headerLine int // 0 for the first
	header     []string
	idParts    []template // of the legacy ID
	idIsLine   bool       // the legacy ID is the line number
	mergeBy    string     // the column by which records match rows of the practice; "" for none
	looseIDs   bool       // legacy IDs ignore case and leading zeros
	conditions []condition
	targets    []*target
	ignored    []string // columns that are not imported
	missing    []string // columns of an optional mapping that the file does not have
	rowSize    int      // about how many columns of a record have values
	makeItems  bool     // make an item for each invoice, because no file has items
}

// target returns the target of a field, or nil.
func (p *plan) target(field string) *target {
	for _, t := range p.targets {
		if t.name == field {
			return t
		}
	}
	return nil
}

// isIndependent reports whether new rows of the file neither depend on each other nor on rows
// that others write, so that two batches can be stored at a time. Those of patients only depend on
// each other for the warning that two are the same person, for which there is recentPeople.
func (p *plan) isIndependent() bool {
	return p.entity.Name == "patients" || p.mergeBy == "" && rules[p.entity.Name] == nil && len(p.entity.Unique) == 0 && !p.entity.Has(legacyID) &&
		!slices.ContainsFunc(p.targets, func(t *target) bool { return t.role == reference })
}

// requires reports whether the file must have a value for the column in every new row.
func (p *plan) requires(c *table.Column) bool {
	return p.entity.requires(c) && !slices.ContainsFunc(p.inheritedFrom(c), func(reference *table.Column) bool { return p.target(reference.Name) != nil })
}

// inheritedFrom returns the references whose records can supply a column: see
// entity.inheritedFrom. A payment can also get its patient from the invoice that it pays.
func (p *plan) inheritedFrom(c *table.Column) []*table.Column {
	list := p.entity.inheritedFrom(c)
	if p.entity.Name == "payments" && c.Name == "patient_id" && p.target(invoiceID) != nil {
		list = append(list, paidInvoice)
	}
	return list
}

// paidInvoice describes the invoice that a payment pays. Payments have no such column.
var paidInvoice = &table.Column{Field: codec.Field{Name: invoiceID}, References: "invoices"}

// open opens the file to read the rows that the plan selects.
func (p *plan) open() (*sourceReader, error) {
	s, err := openSource(p.path, p.delimiter, p.headerLine)
	if err == nil && len(p.conditions) > 0 {
		s.selects = p.selects
	}
	return s, err
}

// condition selects rows by the word in one column.
type condition struct {
	index int      // of the column
	words []string // in lower case; "" is no value and * any
}

// selects reports whether a row satisfies all conditions.
func (p *plan) selects(cells []string) bool {
	return !slices.ContainsFunc(p.conditions, func(c condition) bool {
		text, _ := decodeText(cells[c.index], p.encoding)
		word := strings.ToLower(p.cell([]string{trimCell(text)}, 0))
		return !slices.Contains(c.words, word) && (word == "" || !slices.Contains(c.words, "*"))
	})
}

// newPlans reads the headers of all files and returns the plans in the order in which the files
// are imported. A MappingError lists all mistakes.
func newPlans(dir string, m mapping, zone *time.Location, today civil.Date) ([]*plan, error) {
	var mistakes MappingError
	if m.Source == "" || len(m.Source) > 255 {
		mistakes.add("source: must name the other system, in at most 255 bytes")
	}
	if len(m.Files) == 0 {
		mistakes.add("files: must list at least one file")
	}
	var plans []*plan
	for _, f := range m.Files {
		p := &plan{name: f.File, path: filepath.Join(dir, f.File), system: m.Source, looseIDs: m.LooseIDs}
		pl := planner{plan: p, file: f, format: f.Format.orElse(m.Format), mistakes: &mistakes, today: today, zone: zone, practiceZone: zone, optional: m.Optional}
		if !pl.build() {
			continue
		}
		p.rejects = rejectsName(p, m, plans)
		if slices.ContainsFunc(plans, func(other *plan) bool { return other.rejects == p.rejects }) {
			mistakes.add("%s: a file in another directory has the same name", p.name)
		}
		plans = append(plans, p)
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	slices.SortStableFunc(plans, func(a, b *plan) int { return cmp.Compare(a.order(), b.order()) })
	hasItems := slices.ContainsFunc(plans, func(p *plan) bool { return p.entity.Name == "invoice_items" })
	for _, p := range plans {
		p.makeItems = p.entity.Name == "invoices" && !hasItems && p.target("amount") != nil
	}
	return plans, nil
}

// rejectsName returns the name of a plan's file of rejects: the file's own; with the entity if
// the mapping lists the file more than once; and with a number if it lists it again for the
// entity.
func rejectsName(p *plan, m mapping, before []*plan) string {
	name := filepath.Base(p.name)
	listed := 0
	for _, f := range m.Files {
		if f.File == p.name {
			listed++
		}
	}
	if listed > 1 || name == Findings {
		name = strings.TrimSuffix(name, filepath.Ext(name)) + "." + p.entity.Name + ".csv"
	}
	number := 1
	for _, other := range before {
		if other.name == p.name && other.entity == p.entity {
			number++
		}
	}
	if number > 1 {
		name = fmt.Sprintf("%s.%d.csv", strings.TrimSuffix(name, ".csv"), number)
	}
	return name
}

// order ranks plans: entities come after those they refer to, and payments and their explanations
// last, because a payment may name an invoice, whose amount depends on its items.
func (p *plan) order() int {
	i := slices.Index(entities, p.entity)
	if p.entity.Name == "payments" || p.entity.Name == explanationTable {
		i += len(entities)
	}
	return i
}
