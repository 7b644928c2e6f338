// Keeps the back/forward cache from showing private pages after sign-out: a page
// goes blank when it is left, and is reloaded when the back button restores it.
// Chromium caches even no-store pages.
"use strict";

addEventListener("pagehide", () => { document.documentElement.hidden = true; });
addEventListener("pageshow", event => {
  if (event.persisted) location.replace(location.pathname + location.search);
});
