package web

import (
	"bytes"
	"embed"
	"net/http"
	"slices"
	"strings"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/report/render"
	"chairside/internal/write/etag"
)

// AssetsPath is the path prefix of the style sheet and the scripts.
const AssetsPath = "/assets/"

//go:embed assets
var assetFiles embed.FS

// assetTypes are the served files and their media types.
var assetTypes = map[string]string{
	"style.css":  "text/css; charset=utf-8",
	"diary.css":  "text/css; charset=utf-8",
	"back.js":    "text/javascript; charset=utf-8",
	"copy.js":    "text/javascript; charset=utf-8",
	"passkey.js": "text/javascript; charset=utf-8",
	"samples.js": "text/javascript; charset=utf-8",
}

// Assets serves the style sheet and the scripts.
func (s *Site) Assets(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, AssetsPath)
	mediaType, known := assetTypes[name]
	switch {
	case !known:
		s.Problem(w, r, apierror.NotFound())
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		s.Problem(w, r, apierror.MethodNotAllowed([]string{http.MethodGet, http.MethodHead}))
		return
	}
	content := asset(name)
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", etag.Of(content))
	// Immutable only under its own version: during a rolling update a server of
	// one release may be asked for a file of the other.
	h.Set("Cache-Control", "no-cache")
	if r.URL.RawQuery == version(content) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// asset returns an embedded file. The style sheet includes those of the reference and the reports,
// and that of the diary the positions on the timeline.
func asset(name string) []byte {
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // every name in this package is embedded
	}
	switch name {
	case "style.css":
		content = slices.Concat(content, asset("reference.css"), []byte(render.Style))
	case "diary.css":
		content = append(content, positions()...)
	}
	return content
}

// assetAddress is the URL of a file in its current version.
func assetAddress(name string) string { return AssetsPath + name + "?" + version(asset(name)) }

// version is the part of an address that changes with the content, so that browsers can
// cache it.
func version(content []byte) string { return "v=" + strings.Trim(etag.Of(content), `"`)[:8] }
