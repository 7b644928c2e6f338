package server

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	viewer "github.com/swaggest/swgui/v5/static"

	"chairside/internal/apierror"
	"chairside/internal/write/etag"
)

// static has the files of the reference page, which loads nothing from other hosts.
//
//go:embed static
var static embed.FS

const (
	// refresh lets clients cache a document but revalidate it each time.
	refresh = "no-cache"
	// cacheDay is for assets that change only with a release.
	cacheDay = "public, max-age=86400"

	// contentPolicy allows the reference page scripts, styles and calls of this server, and
	// data URLs for the viewer's icons.
	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
		"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// openapi serves the OpenAPI document.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) {
	serveAsset(w, r, "application/json", refresh, s.document)
}

// withServerURL returns the OpenAPI document with base in front of the paths of its servers
// and OAuth endpoints: tools that read it from a file or another host need complete URLs.
func withServerURL(document []byte, base string) ([]byte, error) {
	quoted, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	document = bytes.ReplaceAll(document, []byte(`"url": "/"`), slices.Concat([]byte(`"url": `), quoted)) // paths begin with a slash
	for _, member := range []string{"url", "authorizationUrl", "tokenUrl"} {
		before := []byte(`"` + member + `": "`)
		document = bytes.ReplaceAll(document, append(before, '/'), slices.Concat(before, quoted[1:len(quoted)-1], []byte("/")))
	}
	return document, nil
}

// docs serves the API reference, with a section on every error code.
func (s *Server) docs(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", contentPolicy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	serveFile(w, r, "docs.html", "text/html; charset=utf-8", refresh)
}

// docsAssets serves the scripts and styles of the reference page: our files, and those of
// the viewer (Swagger UI).
func (s *Server) docsAssets(w http.ResponseWriter, r *http.Request) {
	switch name := strings.TrimPrefix(r.URL.Path, "/docs/"); name {
	case "":
		http.Redirect(w, r, "/docs", http.StatusMovedPermanently)
	case "docs.js":
		serveFile(w, r, name, "text/javascript; charset=utf-8", refresh)
	case "docs.css":
		serveFile(w, r, name, "text/css; charset=utf-8", refresh)
	case "icon.svg":
		serveFile(w, r, name, "image/svg+xml", cacheDay)
	case "swagger-ui-bundle.js":
		serveViewer(w, r, name, "text/javascript; charset=utf-8")
	case "swagger-ui.css":
		serveViewer(w, r, name, "text/css; charset=utf-8")
	default:
		s.fail(w, stateOf(r.Context()), apierror.NotFound())
	}
}

// serveViewer serves a file of the viewer, whose module has it compressed.
func serveViewer(w http.ResponseWriter, r *http.Request, name, mediaType string) {
	content, err := viewer.FS.ReadFile(name + ".gz")
	if err != nil {
		panic(err) // the file is embedded
	}
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		serveAsset(w, r, mediaType, cacheDay, content)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = io.ReadAll(unpacked)
	}
	if err != nil {
		panic(err) // the embedded file is invalid
	}
	serveAsset(w, r, mediaType, cacheDay, content)
}

// avatar serves the neutral picture that every person has (behaviour.md section 2).
func (s *Server) avatar(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, "avatar.svg", "image/svg+xml", "public, max-age=31536000, immutable")
}

func serveFile(w http.ResponseWriter, r *http.Request, name, mediaType, caching string) {
	content, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // the file is embedded
	}
	serveAsset(w, r, mediaType, caching, content)
}

func serveAsset(w http.ResponseWriter, r *http.Request, mediaType, caching string, content []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", caching)
	h.Set("ETag", etag.Of(content))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
