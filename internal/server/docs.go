package server

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"chairside/internal/write/etag"
)

// static has the icons of the pages and the avatar.
//
//go:embed static
var static embed.FS

const (
	// refresh lets clients cache a document but revalidate it each time.
	refresh = "no-cache"
	// cacheDay is for assets that change only with a release.
	cacheDay = "public, max-age=86400"
)

// openapi serves the OpenAPI document, compressed for clients that accept it.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		serveAsset(w, r, "application/json", refresh, s.packed())
		return
	}
	serveAsset(w, r, "application/json", refresh, s.document)
}

// compress returns the text compressed with gzip.
func compress(text []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text) // a buffer accepts everything
	_ = w.Close()
	return packed.Bytes()
}

// exampleURL is the address of the server in the examples of the published document.
const exampleURL = "https://chairside.example"

// withServerURL returns the OpenAPI document with base in front of the paths of its servers
// and OAuth endpoints: tools that read it from a file or another host need complete URLs. Examples have
// base as their address, too, so that they are what this server sends.
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
	return bytes.ReplaceAll(document, []byte(exampleURL+"/"), append(quoted[1:len(quoted)-1:len(quoted)-1], '/')), nil
}

// docsIndex redirects /docs/ to the reference.
func docsIndex(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/docs", http.StatusMovedPermanently)
}

// iconPath is the address of the pages' icon.
const iconPath = "/docs/icon.svg"

func icon(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, "icon.svg", "image/svg+xml", cacheDay)
}

// favicon serves the icon where browsers look for it unasked, as pictures of 16, 32 and 48 pixels.
func favicon(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, "favicon.ico", "image/x-icon", cacheDay)
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
