package server

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"chairside/internal/apierror"
	"chairside/internal/codec"
	"chairside/internal/write/etag"
)

const (
	// maxBody is the maximum size of a request body, in bytes.
	maxBody = 1 << 20
	// jsonType is the media type of every response body of the API.
	jsonType = "application/json; charset=utf-8"
)

// readBody replaces the body by its canonical form. The operation reports invalid fields,
// because it first checks that the record exists (behaviour.md section 6).
func readBody(x *requestState) error {
	schema := x.operation.Body
	if schema == nil {
		return nil
	}
	sent, err := readSent(x)
	if err != nil {
		return err
	}
	canonical, problems, err := schema.Read(sent, x.caller.Zone)
	if err != nil {
		return err
	}
	r := x.r.WithContext(codec.WithProblems(x.r.Context(), problems))
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "identity")
	r.Body = io.NopCloser(bytes.NewReader(canonical))
	r.ContentLength = int64(len(canonical))
	r.TransferEncoding = nil
	x.r = r
	return nil
}

// readSent reads the body as sent, at most maxBody bytes.
func readSent(x *requestState) ([]byte, error) {
	if err := checkMediaType(x.r); err != nil {
		return nil, err
	}
	if x.r.ContentLength > maxBody {
		return nil, apierror.BodyTooLarge()
	}
	sent, err := io.ReadAll(http.MaxBytesReader(nil, x.r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierror.BodyTooLarge()
	} else if err != nil {
		return nil, apierror.MalformedJSON().Because(err)
	}
	x.sent = sent
	return sent, nil
}

// checkMediaType refuses a body whose media type is missing or not JSON, and compressed bodies. An
// empty body needs no media type.
func checkMediaType(r *http.Request) error {
	declared := r.Header.Get("Content-Type")
	if declared == "" && r.ContentLength == 0 {
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(declared)
	charset := params["charset"]
	encoding := r.Header.Get("Content-Encoding")
	switch {
	case err != nil,
		mediaType != "application/json",
		charset != "" && !strings.EqualFold(charset, "utf-8"),
		encoding != "" && !strings.EqualFold(encoding, "identity"):
		return apierror.UnsupportedMediaType()
	}
	return nil
}

// ifMatch passes the If-Match header to the operation.
func ifMatch(x *requestState) error {
	if headers := x.r.Header.Values("If-Match"); len(headers) > 0 {
		x.r = x.r.WithContext(etag.WithIfMatch(x.r.Context(), strings.Join(headers, ", ")))
	}
	return nil
}
