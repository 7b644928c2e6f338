package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chairside/internal/guides"
)

// addResources adds the guides and the OpenAPI document.
func (s *Server) addResources() {
	s.addText("chairside://openapi.json", "openapi.json", "OpenAPI document", "The whole API as an OpenAPI document: large.", jsonMedia, string(s.Document))
	for _, g := range guides.All() {
		s.addText("chairside://guides/"+g.Name, g.Name, g.Title, g.Summary, "text/markdown", g.At(s.BaseURL).Source)
	}
}

func (s *Server) addText(uri, name, title, description, mediaType, text string) {
	s.sdk.AddResource(
		&sdk.Resource{URI: uri, Name: name, Title: title, Description: description, MIMEType: mediaType, Size: int64(len(text))},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mediaType, Text: text}}}, nil
		})
}
