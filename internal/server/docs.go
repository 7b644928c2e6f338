package server

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"strings"
	"time"

	viewer "github.com/swaggest/swgui/v5/static"

	"chairside/internal/apierror"
	"chairside/internal/write/etag"
	"chairside/ogent"
)

// static is what the reference page and answers link to. Everything is served
// from here; nothing is loaded from elsewhere.
//
//go:embed static
var static embed.FS

const (
	// refresh lets clients keep a document and ask whether it is still the one.
	refresh = "no-cache"
	// keepDay is for assets that change with a release at most.
	keepDay = "public, max-age=86400"

	// contentPolicy allows the reference page its own scripts and styles, and
	// calls to this server; the viewer draws its icons from data URLs.
	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
		"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// openapi is the contract as a machine reads it.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) {
	serveAsset(w, r, "application/json", refresh, ogent.Document)
}

// docs is the contract as a person reads it, with a section on every error code.
func (s *Server) docs(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", contentPolicy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	serveFile(w, r, "docs.html", "text/html; charset=utf-8", refresh)
}

// docsAssets are the scripts and styles of the reference page: two files of
// ours, and the viewer's.
func (s *Server) docsAssets(w http.ResponseWriter, r *http.Request) {
	switch name := strings.TrimPrefix(r.URL.Path, "/docs/"); name {
	case "":
		http.Redirect(w, r, "/docs", http.StatusMovedPermanently)
	case "docs.js":
		serveFile(w, r, name, "text/javascript; charset=utf-8", refresh)
	case "docs.css":
		serveFile(w, r, name, "text/css; charset=utf-8", refresh)
	case "icon.svg":
		serveFile(w, r, name, "image/svg+xml", keepDay)
	case "swagger-ui-bundle.js":
		serveViewer(w, r, name, "text/javascript; charset=utf-8")
	case "swagger-ui.css":
		serveViewer(w, r, name, "text/css; charset=utf-8")
	default:
		s.fail(w, of(r.Context()), apierror.NotFound())
	}
}

// serveViewer serves a file of the viewer, which its module holds compressed.
func serveViewer(w http.ResponseWriter, r *http.Request, name, mediaType string) {
	content, err := viewer.FS.ReadFile(name + ".gz")
	if err != nil {
		panic(err) // a file that this package names is embedded
	}
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		serveAsset(w, r, mediaType, keepDay, content)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = io.ReadAll(unpacked)
	}
	if err != nil {
		panic(err) // the embedded file is broken
	}
	serveAsset(w, r, mediaType, keepDay, content)
}

// avatar is the picture of everyone of whom there is none: the same for all,
// so that it says nothing of anyone (behaviour.md section 2).
func (s *Server) avatar(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, "avatar.svg", "image/svg+xml", "public, max-age=31536000, immutable")
}

func serveFile(w http.ResponseWriter, r *http.Request, name, mediaType, caching string) {
	content, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // a file that this package names is embedded
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
