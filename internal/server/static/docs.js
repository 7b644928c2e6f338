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
  // The document names the server's public address. Requests go to the address that the
  // reader has typed, because the page's policy allows no other.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
});
