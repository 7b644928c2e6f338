package web

import (
	"bytes"
	"embed"
	"net/http"
	"strings"
	"time"

	"chairside/internal/apierror"
	"chairside/internal/write/etag"
	"chairside/internal/report"
)

// AssetsPath is below which the files of the pages have their addresses.
const AssetsPath = "/assets/"

//go:embed assets
var assetFiles embed.FS

// assetTypes are the files that are served.
var assetTypes = map[string]string{
	"style.css": "text/css; charset=utf-8",
	"back.js":   "text/javascript; charset=utf-8",
	"copy.js":   "text/javascript; charset=utf-8",
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
	// Kept for good only under the version it has: while servers of two
	// releases run side by side, the older may be asked for the newer's.
	h.Set("Cache-Control", "no-cache")
	if r.URL.RawQuery == version(content) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func asset(name string) []byte {
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // a file that this package names is embedded
	}
	if name == "style.css" {
		content = append(content, report.Style...)
	}
	return content
}

// assetAddress is where pages find a file, in its present version.
func assetAddress(name string) string { return AssetsPath + name + "?" + version(asset(name)) }

func version(content []byte) string { return "v=" + strings.Trim(etag.Of(content), `"`)[:8] }
