// Draws the reference below the list of errors.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: false, // the fragment of this page's address names an error code
  validatorUrl: null,
  persistAuthorization: false,
  defaultModelsExpandDepth: -1,
  docExpansion: "list",
});
