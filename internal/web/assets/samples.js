// Opens the samples of an operation in the language that the reader opened last.
"use strict";

const samples = [...document.querySelectorAll('details[name="sample"]')];
const languageOf = sample => sample.querySelector("summary").textContent;

try {
  const known = samples.find(sample => languageOf(sample) === localStorage.getItem("language"));
  if (known) known.open = true; // which closes the others
  for (const sample of samples) {
    // Not on toggle: that also comes from the sample that the page opens.
    sample.querySelector("summary").addEventListener("click", () => localStorage.setItem("language", languageOf(sample)));
  }
} catch {
  // The browser keeps nothing for this site.
}
