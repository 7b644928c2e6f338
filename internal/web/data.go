package web

import (
	"net/http"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/store/analyst"
)

const dataPath = "/docs/data"

// dataView is a view for analysts with its columns as the data dictionary shows them.
type dataView struct {
	table.View
	Title   string
	Columns []dataColumn
}

type dataColumn struct {
	table.ViewColumn
	Type, Text string
}

// dataDictionary shows the views for analysts and their columns.
func (s *Site) dataDictionary(w http.ResponseWriter, r *http.Request) error {
	all := make([]dataView, len(ent.Views))
	for i, v := range ent.Views {
		all[i] = dataView{View: v, Title: table.Title(v.Name)}
		for _, c := range v.Columns {
			text := c
			text.References = "" // has a column of its own
			all[i].Columns = append(all[i].Columns, dataColumn{c, columnType(c), analyst.Describe(text)})
		}
	}
	s.show(w, r, http.StatusOK, "data", view{Title: "Data dictionary", Menu: s.menuOf("", dataPath), Page: all})
	return nil
}

// columnType returns the PostgreSQL type of a column.
func columnType(c table.ViewColumn) string {
	switch {
	case c.Day:
		return string(table.Date)
	case c.Stored == table.Amount:
		return "numeric(14,2)"
	}
	return string(c.Stored)
}

// entityDiagram shows which views reference which.
func (s *Site) entityDiagram(w http.ResponseWriter, r *http.Request) error {
	s.show(w, r, http.StatusOK, "data_diagram", view{Title: "Entity diagram", Menu: s.menuOf("", diagramPath), Page: drawDiagram(ent.Views)})
	return nil
}
