package mcp

import (
	"bufio"
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addResources adds the guides and the OpenAPI document.
func (s *Server) addResources() error {
	s.addText("chairside://openapi.json", "openapi.json", "OpenAPI document", "The whole API as an OpenAPI document: large.", jsonMedia, s.Document)
	names, err := fs.Glob(s.Guides, "*.md")
	if err != nil {
		return err
	}
	for _, file := range names {
		text, err := fs.ReadFile(s.Guides, file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), ".md")
		s.addText("chairside://guides/"+name, name, title(text), "Guide: "+title(text)+".", "text/markdown", text)
	}
	return nil
}

func (s *Server) addText(uri, name, title, description, mediaType string, text []byte) {
	s.sdk.AddResource(
		&sdk.Resource{URI: uri, Name: name, Title: title, Description: description, MIMEType: mediaType, Size: int64(len(text))},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mediaType, Text: string(text)}}}, nil
		})
}

// title returns the first heading of a Markdown text.
func title(text []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if heading, ok := strings.CutPrefix(lines.Text(), "# "); ok {
			return heading
		}
	}
	return ""
}
