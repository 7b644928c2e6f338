package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/internal/apierror"
	"chairside/internal/audit"
	"chairside/internal/subject"
)

const patientDataPath = "/settings/patient-data"

// patientDataView is what the practice holds about a patient, and what an erasure would do.
type patientDataView struct {
	*subject.File
	Erasure    *subject.Erasure // nil if the patient was erased
	NotReached []string
}

// patientData shows a form for the id of a patient and, once it is given, what the practice holds
// about the patient, with links to the files and what an erasure would do. The erasure itself is a
// command.
func (s *Site) patientData(w http.ResponseWriter, r *http.Request) error {
	v := view{Title: "Patient data", Here: patientDataPath, Form: form{values: r.URL.Query()}}
	if !r.URL.Query().Has("patient") {
		s.show(w, r, http.StatusOK, "patient_data", v)
		return nil
	}
	file, err := s.patientFile(r, v.Form.Value("patient"))
	if ent.IsNotFound(err) {
		v.Form.add("patient", "No patient has this ID. Enter a number, such as 17.")
		s.show(w, r, http.StatusUnprocessableEntity, "patient_data", v)
		return nil
	}
	if err != nil {
		return err
	}
	page := patientDataView{File: file, NotReached: subject.NotReached}
	if file.Keeping.ErasedAt == nil {
		var refusal subject.Refusal // File.Keeping has the reason
		if page.Erasure, err = subject.Check(r.Context(), s.DB, file.Patient.ID); err != nil && !errors.As(err, &refusal) {
			return err
		}
	}
	v.Page = page
	s.show(w, r, http.StatusOK, "patient_data", v)
	return nil
}

// patientFile reads the file of the patient with an id. It returns ent's error for a row that does
// not exist if the practice has no such patient.
func (s *Site) patientFile(r *http.Request, id string) (*subject.File, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
	if err != nil {
		return nil, &ent.NotFoundError{}
	}
	return subject.Read(r.Context(), s.DB, n)
}

// patientDataFiles are the files by their extension.
var patientDataFiles = map[string]struct {
	mediaType string
	write     func(*subject.File, io.Writer) error
}{
	"html":      {"text/html; charset=utf-8", (*subject.File).WriteHTML},
	"json":      {"application/json", (*subject.File).WriteJSON},
	"fhir.json": {"application/fhir+json", (*subject.File).WriteFHIR},
}

// patientDataFile sends the file of a patient in one of its formats.
func (s *Site) patientDataFile(w http.ResponseWriter, r *http.Request) error {
	id, extension, _ := strings.Cut(r.PathValue("file"), ".")
	format, known := patientDataFiles[extension]
	if !known {
		return apierror.NotFound()
	}
	file, err := s.patientFile(r, id)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := format.write(file, &content); err != nil {
		return err
	}
	name := "patient-" + strconv.FormatInt(file.Patient.ID, 10) + "." + extension
	audit.From(r.Context()).Event(audit.Event{Action: "export", Record: name})
	h := w.Header()
	h.Set("Content-Type", format.mediaType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Length", strconv.Itoa(content.Len()))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content.Bytes()) // fails if the visitor has left
	}
	return nil
}
