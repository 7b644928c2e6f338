package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// idSeparator joins the columns of a legacy ID, and those of a reference to it.
const idSeparator = "/"

var (
	// spreadsheetDecimals matches what spreadsheets append to whole numbers: 123.0 is the ID 123.
	spreadsheetDecimals = regexp.MustCompile(`(^|/)(\d+)\.0+(/|$)`)
	leadingZeros        = regexp.MustCompile(`(^|/)0+(\d+)(/|$)`)
)

// hasIDs reports whether the rows of the file have legacy IDs. Records without are identified by
// the unique keys of their entity.
func (p *plan) hasIDs() bool { return p.idIsLine || len(p.idParts) > 0 }

// readLegacyID returns the legacy ID of a row as the file spells it, or "" if a part of it is
// blank.
func (p *plan) readLegacyID(cells []string, line int) string {
	if p.idIsLine {
		return strconv.Itoa(line)
	}
	parts := make([]string, len(p.idParts))
	for i, part := range p.idParts {
		if column, ok := part.column(); ok {
			parts[i] = p.cell(cells, column)
		} else {
			parts[i] = p.expand(part, cells, idText)
		}
		if parts[i] == "" {
			return ""
		}
	}
	return strings.Join(parts, idSeparator)
}

// replaceInParts applies an expression to each part of an ID. Neighbouring parts share a
// separator, so one pass would skip every second part.
func replaceInParts(part *regexp.Regexp, id string) string {
	return part.ReplaceAllString(part.ReplaceAllString(id, "$1$2$3"), "$1$2$3")
}

// trimDecimals returns a legacy ID without the decimals that spreadsheets append.
func trimDecimals(id string) string {
	if !strings.Contains(id, ".0") {
		return id
	}
	return replaceInParts(spreadsheetDecimals, id)
}

// normalizeID returns the form in which legacy IDs are compared.
func (p *plan) normalizeID(id string) string {
	id = trimDecimals(id)
	if p.looseIDs {
		return replaceInParts(leadingZeros, strings.ToUpper(id))
	}
	return id
}

// spellings returns the forms in which a legacy ID may have been stored. They differ if IDs are
// loose now, or were when the record was imported.
func (p *plan) spellings(rawID string) []string {
	return slices.Compact([]string{p.normalizeID(rawID), trimDecimals(rawID), rawID})
}
