#include "render/flame_script.h"

namespace nodescope {

// Zooming only changes the viewBox of #frames, and what a search finds is drawn once more over a veil: the
// boxes themselves are never touched, so that a hundred thousand of them stay quick.  Names are put in place
// as text, never as markup.
const std::string_view kFlameScript = R"js(
(function () {
"use strict";
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml", PAD = 10;
const svg = document.currentScript.ownerSVGElement;
const part = id => svg.querySelector("#" + id);
const frames = part("frames"), names = part("names"), veil = part("veil"), details = part("details");
const matched = part("matched"), unzoom = part("unzoom");
const data = svg.dataset, units = +data.units, rows = +data.rows, rowHeight = +data.row, inverted = data.inverted === "1";
const kinds = JSON.parse(data.kinds || "{}");
const rects = Array.from(frames.getElementsByTagName("rect"));
const X = new Float64Array(rects.length), W = new Float64Array(rects.length), Y = new Int32Array(rects.length);
const number = new WeakMap();
rects.forEach((rect, i) => {
  X[i] = rect.getAttribute("x");
  W[i] = rect.getAttribute("width");
  Y[i] = rect.getAttribute("y");
  number.set(rect, i);
});
const top = +frames.getAttribute("y"), height = +svg.getAttribute("height");
const shade = make(SVG, "rect", {
  class: "shade", width: units, height: rows, "pointer-events": "none", visibility: "hidden"
}, frames);
const marks = make(SVG, "g", {}, frames);
let width = +frames.getAttribute("width"), focus = 0, hits = [], allNames = null;

// "fib x.js:3 (12 samples, 1.20%)": the name ends before the last bracket.
const titleOf = i => rects[i].firstElementChild.textContent;
const nameOf = i => { const title = titleOf(i), end = title.lastIndexOf(" ("); return end < 0 ? title : title.slice(0, end); };
function make(space, name, attributes, parent) {
  const element = document.createElementNS(space, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  parent.appendChild(element);
  return element;
}

const pen = document.createElementNS(HTML, "canvas").getContext("2d");
const measure = text => pen.measureText(text).width;
let letter = 7;
function fit(name, space) {
  if (name.length * letter < space * 3 && measure(name) <= space) return name;
  for (let n = Math.min(name.length - 1, Math.ceil(space / letter) + 1); n > 0; n--) {
    const text = name.slice(0, n).replace(/[\uD800-\uDBFF]$/, "") + "\u2026";
    if (measure(text) <= space) return text;
  }
  return "";
}

function drawNames() {
  const style = getComputedStyle(names);
  pen.font = style.fontSize + " " + style.fontFamily;
  letter = measure("abcdefghij") / 10;
  const x = X[focus], end = x + W[focus], scale = width / W[focus];
  const drop = rowHeight / 2 + parseFloat(style.fontSize) * 0.32;
  const all = document.createDocumentFragment();
  for (let i = 0; i < rects.length; i++) {
    const left = Math.max(X[i], x), right = Math.min(X[i] + W[i], end);
    const space = (right - left) * scale - 6;
    if (space < letter * 2) continue;
    const name = nameOf(i), shown = fit(name, space);
    if (shown !== name && shown.length < 4) continue;
    const text = make(SVG, "text", {
      x: (PAD + 3 + (left - x) * scale).toFixed(1), y: (top + Y[i] * rowHeight + drop).toFixed(1)
    }, all);
    text.textContent = shown;
  }
  names.replaceChildren(all);
}

function draw() {
  frames.setAttribute("viewBox", X[focus] + " 0 " + W[focus] + " " + rows);
  // Callers of what is in view are pale.
  const y = Y[focus];
  veil.setAttribute("y", top + (inverted ? 0 : (y + 1) * rowHeight));
  veil.setAttribute("height", rowHeight * (inverted ? y : rows - y - 1));
  unzoom.setAttribute("visibility", focus ? "visible" : "hidden");
  drawNames();
  countHits();
}

function zoom(i) { focus = i; draw(); save(); }

let input, caseButton, matchCase = false;
function pattern() {
  if (!input || !input.value) return null;
  const flags = matchCase ? "" : "i";
  try { return new RegExp(input.value, flags); }
  catch (error) { return new RegExp(input.value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags); }
}
function search() {
  hits = [];
  const wanted = pattern(), all = document.createDocumentFragment();
  if (wanted) {
    allNames = allNames || rects.map((rect, i) => nameOf(i));
    const known = new Map();
    allNames.forEach((name, i) => {
      let found = known.get(name);
      if (found === undefined) known.set(name, found = wanted.test(name));
      if (found) hits.push(i);
    });
    for (const i of hits) {
      const mark = rects[i].cloneNode(true);
      mark.setAttribute("class", "hit");
      all.appendChild(mark);
      number.set(mark, i);
    }
  }
  marks.replaceChildren(all);
  shade.setAttribute("visibility", wanted ? "visible" : "hidden");
  countHits();
}
// The share of what is in view that has a hit anywhere on its stack.
function countHits() {
  if (!pattern()) { matched.textContent = ""; return; }
  const x = X[focus], end = x + W[focus];
  const spans = hits.map(i => [Math.max(X[i], x), Math.min(X[i] + W[i], end)]).filter(s => s[1] > s[0]);
  spans.sort((a, b) => a[0] - b[0]);
  let sum = 0, covered = x;
  for (const [left, right] of spans) {
    if (right > covered) { sum += right - Math.max(left, covered); covered = right; }
  }
  const share = 100 * sum / W[focus];
  matched.textContent = "Matched: " + (share === 100 || share === 0 ? share : share.toFixed(share < 1 ? 2 : 1)) + "%";
}

// The address keeps the view: #s=search&c=1&x=123&y=4
function save() {
  const state = new URLSearchParams();
  if (input && input.value) state.set("s", input.value);
  if (matchCase) state.set("c", "1");
  if (focus) { state.set("x", X[focus]); state.set("y", Y[focus]); }
  const text = state.toString();
  try { history.replaceState(null, "", text ? "#" + text : location.href.split("#")[0]); } catch (error) { /* no address here */ }
}
function load() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (input) input.value = state.get("s") || "";
  setCase(state.get("c") === "1");
  const x = +state.get("x"), y = +state.get("y");
  focus = state.has("x") ? Math.max(0, rects.findIndex((rect, i) => X[i] === x && Y[i] === y)) : 0;
  search();
  draw();
}

function setCase(on) {
  matchCase = on;
  if (caseButton) caseButton.setAttribute("aria-pressed", on);
}
function addSearchBox() {
  const holder = make(SVG, "foreignObject", { id: "searchbox", y: 6, width: 236, height: 26 }, svg);
  const bar = make(HTML, "div", { class: "bar" }, holder);
  input = make(HTML, "input", { type: "search", placeholder: "Search", "aria-label": "Search names by regular expression",
    title: "Regular expression (Ctrl-F)", spellcheck: "false" }, bar);
  caseButton = make(HTML, "button", { "aria-label": "Match case", title: "Match case (Ctrl-I)" }, bar);
  caseButton.textContent = "Aa";
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { search(); save(); }, rects.length > 20000 ? 200 : 30);
  });
  caseButton.addEventListener("click", toggleCase);
}
function toggleCase() { setCase(!matchCase); search(); save(); }

// Without a width of its own the drawing is as wide as its window.
function resize() {
  if (data.fluid === "1" && svg === document.documentElement) {
    const whole = Math.max(320, window.innerWidth);
    svg.setAttribute("width", whole);
    svg.setAttribute("viewBox", "0 0 " + whole + " " + height);
    width = whole - 2 * PAD;
    frames.setAttribute("width", width);
    veil.setAttribute("width", width);
    for (const text of svg.querySelectorAll("[text-anchor=middle]")) text.setAttribute("x", whole / 2);
    matched.setAttribute("x", whole - PAD);
  }
  const box = part("searchbox");
  if (box) box.setAttribute("x", width + 2 * PAD - PAD - 236);
}

function boxAt(event) { return number.get(event.target.nodeName === "title" ? event.target.parentNode : event.target); }
frames.addEventListener("click", event => {
  const i = boxAt(event);
  if (i === undefined || (event.target.closest("a") && !event.ctrlKey && !event.metaKey)) return;
  event.preventDefault();
  zoom(i);
});
frames.addEventListener("mouseover", event => {
  const i = boxAt(event);
  if (i === undefined) return;
  const kind = kinds[rects[i].classList[0]];
  details.textContent = data.name + " " + titleOf(i) + (kind ? " \u2013 " + kind : "");
});
frames.addEventListener("mouseout", () => { details.textContent = ""; });
unzoom.addEventListener("click", () => zoom(0));
window.addEventListener("keydown", event => {
  const control = event.ctrlKey || event.metaKey;
  if (event.key === "F3" || (control && event.key === "f") || (event.key === "/" && event.target !== input)) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (control && event.key === "i") {
    event.preventDefault();
    toggleCase();
  } else if (event.key === "Escape") {
    if (input.value) { input.value = ""; search(); save(); } else if (focus) zoom(0);
    input.blur();
  }
});
window.addEventListener("resize", () => { resize(); draw(); });
window.addEventListener("hashchange", load);
addSearchBox();
resize();
load();
})();
)js";

const std::string_view kFlameStyle = R"css(
#frames rect{cursor:pointer}
#frames .shade{fill:#fff;opacity:.5;stroke:none}
@supports (vector-effect:non-scaling-stroke){
#frames rect{stroke-width:1px;vector-effect:non-scaling-stroke;paint-order:stroke}
#frames rect:hover{stroke:#000;paint-order:fill}
}
text{user-select:none;-webkit-user-select:none}
#details{user-select:text;-webkit-user-select:text}
#unzoom{cursor:pointer;fill:#2f54d0}
.soft{fill:#5f6979}
.bar{display:flex;gap:4px;font:12px system-ui,sans-serif}
.bar input{flex:1;min-width:0}
.bar input,.bar button{height:24px;box-sizing:border-box;padding:0 6px;border:1px solid #c9d0da;border-radius:4px;background:#fff;color:#161a21;font:inherit}
.bar button{color:#5f6979;cursor:pointer}
.bar [aria-pressed=true]{background:#2f54d0;color:#fff}
)css";

const std::string_view kFlameDarkStyle = R"css(@media (prefers-color-scheme:dark){
svg{fill:#e8ebf0}
:root{background:#14171c;color-scheme:dark}
#bg,#veil,#frames .shade{fill:#14171c}
#frames rect{stroke:#14171c}
#frames rect:hover{stroke:#fff}
#unzoom{fill:#8aa4ff}
.soft{fill:#8f9aaa}
.bar input,.bar button{background:#1d222a;color:#e8ebf0;border-color:#3b4451}
.bar [aria-pressed=true]{background:#8aa4ff;color:#0d0f13}
}
)css";

}  // namespace nodescope
