// Elements that are too wide or too small to read or touch, words that are broken, and
// disclosures without an arrow: {wrong, small}, two lists of messages.
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

  // A disclosure has an arrow, or looks like a button. (A list item has the browser's arrow.)
  for (const e of document.querySelectorAll("summary")) {
    const style = getComputedStyle(e), arrow = getComputedStyle(e, "::before");
    const button = parseFloat(style.borderTopWidth) > 0;
    if (e.checkVisibility() && style.display != "list-item" && arrow.content == "none" && !button) wrong.push(`${describe(e)}: no arrow`);
  }

  // A link to a schema, and one that is all of its list item or cell, is a target of its own.
  if (innerWidth < 700) {
    for (const e of document.querySelectorAll("main :is(li, td, dt) > a, main a[href^='/docs/schemas/']")) {
      const alone = e.textContent.trim() == e.parentElement.textContent.trim() || e.matches("[href^='/docs/schemas/']");
      if (alone && e.checkVisibility() && !e.closest("nav, .report") && box(e).height < 43.5) wrong.push(`${describe(e)}: height of ${Math.round(box(e).height)}`);
    }
  }

  // Words of up to 24 letters fit on a line of every page.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (const range = document.createRange(); walker.nextNode();) {
    const text = walker.currentNode;
    if (!text.parentElement.closest("th, td, dt, dd, nav, h1, h2, h3") || text.parentElement.closest("pre, svg, textarea, option, .unseen") || !text.parentElement.checkVisibility()) continue;
    for (const {0: word, index} of text.data.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]{2,24}(?![\p{L}\p{N}])/gu)) {
      range.setStart(text, index), range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) wrong.push(`${describe(text.parentElement)}: ${word} is broken`);
    }
  }

  const headings = [...document.querySelectorAll("h1")].filter(h => h.checkVisibility());
  if (headings.length != 1) wrong.push(`${headings.length} h1 headings, want 1`);
  return {wrong, small};
})()
