// Elements that are too wide or too small to read or touch: {wrong, small}, two lists of
// messages.
(() => {
  const wrong = [], small = [];
  const width = document.documentElement.clientWidth;
  const describe = e => `<${e.localName}${e.id && ` id=${e.id}`}> ${(e.innerText ?? "").slice(0, 40)}`;
  const box = e => e.getBoundingClientRect();

  if (document.scrollingElement.scrollWidth > width) {
    wrong.push(`the page is ${document.scrollingElement.scrollWidth} wide, the window ${width}`);
    for (const e of document.querySelectorAll("body *")) if (box(e).right > width + 1) wrong.push(`${describe(e)} ends at ${box(e).right}`);
  }

  for (const e of document.querySelectorAll("a, button, input, select, textarea, summary")) {
    const target = e.matches("[type=checkbox], [type=radio]") ? e.closest("label") ?? e : e;
    const {width, height, bottom} = box(target);
    if (!e.checkVisibility({visibilityProperty: true}) || width <= 1 || bottom <= 0) continue; // hidden, or beyond the page
    if (e.matches("input:not([type=checkbox], [type=radio]), select, textarea") && parseFloat(getComputedStyle(e).fontSize) < 16) {
      wrong.push(`${describe(e)}: font size ${getComputedStyle(e).fontSize}: phones zoom in`);
    }
    const inText = getComputedStyle(e).display == "inline"; // WCAG 2.5.8 excepts links in sentences
    const side = Math.round(Math.min(width, height));
    if (side < 24 && !inText) wrong.push(`${describe(e)}: target of ${Math.round(width)} × ${Math.round(height)}`);
    else if (side < 44) small.push(`${describe(e)}: target of ${Math.round(width)} × ${Math.round(height)}`);
  }

  const headings = [...document.querySelectorAll("h1")].filter(h => h.checkVisibility());
  if (headings.length != 1) wrong.push(`${headings.length} h1 headings, want 1`);
  return {wrong, small};
})()
