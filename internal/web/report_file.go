package web

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strconv"

	"chairside/internal/apierror"
	"chairside/internal/report"
	"chairside/internal/report/render"
)

var fileTypes = map[render.Format]string{
	render.CSV:  "text/csv; charset=utf-8; header=present",
	render.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	render.JSON: "application/json",
}

// sendReport sends a report, or one of its tables, as a file, in one write: unread bytes then
// count as unsent, and slow readers are cut off.
func sendReport(w http.ResponseWriter, r *http.Request, a *report.Answer, format render.Format, table string) error {
	var content bytes.Buffer
	err := render.Write(&content, a, format, render.Options{Table: table})
	if errors.As(err, new(render.UnknownTableError)) {
		return apierror.NotFound()
	}
	if err != nil {
		return err
	}
	name := a.FileName("")
	if format == render.CSV {
		name = a.FileName(table)
	}
	h := w.Header()
	h.Set("Content-Type", fileTypes[format])
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name + "." + string(format)}))
	h.Set("Content-Length", strconv.Itoa(content.Len()))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content.Bytes()) // fails if the visitor has left
	}
	return nil
}
