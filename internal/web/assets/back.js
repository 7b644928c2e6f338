// Keeps browsers that remember whole pages from showing private ones after
// sign-out: what is left goes blank, and what the back button brings back is
// asked for anew. Chromium does that to pages that are not to be stored, too.
"use strict";

addEventListener("pagehide", () => { document.documentElement.hidden = true; });
addEventListener("pageshow", event => {
  if (event.persisted) location.replace(location.pathname + location.search);
});
