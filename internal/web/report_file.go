package web

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"

	"chairside/internal/report"
	"chairside/internal/report/render"
)

var fileTypes = map[render.Format]string{
	render.CSV:  "text/csv; charset=utf-8; header=present",
	render.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	render.JSON: "application/json",
}

// sendReport sends a report as a file, in one write: unread bytes then count as
// unsent, and slow readers are cut off.
func sendReport(w http.ResponseWriter, r *http.Request, a *report.Answer, format render.Format) error {
	var content bytes.Buffer
	if err := render.Write(&content, a, format, 0); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", fileTypes[format])
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(a) + "." + string(format)}))
	h.Set("Content-Length", strconv.Itoa(content.Len()))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content.Bytes()) // fails if the visitor has left
	}
	return nil
}

// fileName names the report and its period: "income-2026-04-01-to-2026-06-30".
func fileName(a *report.Answer) string {
	name, from, to := a.Name+"-", a.Filter.From, a.Filter.To.String()
	switch {
	case a.AsAt || from == a.Filter.To:
		return name + to
	case from.IsZero():
		return name + "to-" + to
	}
	return name + from.String() + "-to-" + to
}
