#include "app/reconstruct/page_text.h"

namespace saccade {

const std::string_view kPageHead = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; media-src data:; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>saccade</title>
<style>
  :root { color-scheme: dark; --ink: #f2f4f8; --dim: #9aa5b4; --accent: #fad159; --line: #2a303a; }
  * { box-sizing: border-box; }
  body { margin: 0 auto; padding: 16px; max-width: 1120px; background: #101216; color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
  h1 { margin: 0; font-size: 18px; overflow-wrap: anywhere; }
  p { margin: 2px 0 12px; color: var(--dim); overflow-wrap: anywhere; }
  #stage { position: relative; width: 100%; background: #808080; border-radius: 4px; overflow: hidden; }
  #stage video, #stage svg { position: absolute; inset: 0; width: 100%; height: 100%; display: block; }
  #bar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 16px; margin: 10px 0; }
  button { min-width: 76px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 4px; background: #1d3050; color: inherit; font: inherit; cursor: pointer; }
  label { cursor: pointer; user-select: none; }
  #now { margin-left: auto; color: var(--dim); font-variant-numeric: tabular-nums; }
  #plot { display: block; width: 100%; height: 110px; cursor: pointer; touch-action: none; }
  .key { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 8px 0 0; color: var(--dim); font-size: 13px; }
  .key i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
</style>
</head>
<body>
<h1 id="name"></h1>
<p id="facts"></p>
<div id="stage"><video id="film" muted playsinline></video><svg id="over" aria-hidden="true"></svg></div>
<div id="bar">
  <button id="play">play</button>
  <label><input type="checkbox" id="show-path" checked> scanpath</label>
  <label><input type="checkbox" id="show-outlines"> outlines</label>
  <span id="now"></span>
</div>
<svg id="plot" role="slider" tabindex="0" aria-label="time; above it the tiles that changed"></svg>
<div class="key" id="levels"></div>
<script type="application/json" id="data">)html";

const std::string_view kPageMiddle = R"html(</script>
<script type="text/plain" id="video">)html";

const std::string_view kPageEnd = R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const film = find("film"), over = find("over"), plot = find("plot");
const last = data.t.length - 1, count = data.outlines ? data.patches : 0;
const heat = ["#292e8c", "#1f99bf", "#59bf59", "#f2d140", "#d9382e", "#d9382e"];
const words = (n) => n.toLocaleString("en");
document.title = data.name + " - saccade";
find("name").textContent = data.name;
find("facts").textContent = `${words(data.emissions)} emissions of ${data.patches} patches, ${data.width}x${data.height}. ${data.lattice}` +
  (data.t.length < data.emissions ? ` Shown: ${words(data.t.length)} of them, evenly chosen.` : "") + (data.complete ? "" : " The dump is incomplete.");
find("stage").style.aspectRatio = `${data.width * data.sar} / ${data.height}`;
over.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`);
over.setAttribute("preserveAspectRatio", "none");
const bytes = count ? Uint8Array.from(atob(data.outlines), (c) => c.charCodeAt(0)) : new Uint8Array();
const outlines = new Uint16Array(bytes.buffer);  // u, v, lod of each patch; see html_page.cpp
film.src = find("video").textContent;
find("show-outlines").disabled = !count;

function element(name, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}
const at = (seconds) => {  // the last emission that is not later
  let low = 0, high = last;
  while (low < high) { const middle = (low + high + 1) >> 1; if (data.t[middle] <= seconds + 1e-4) low = middle; else high = middle - 1; }
  return low;
};
const unit = data.height / 100;
function drawOutlines(i) {
  for (let n = 0; n < count; n++) {
    const k = (i * count + n) * 3;
    if (outlines[k + 2] === 65535) continue;
    const lod = outlines[k + 2] / 4096, side = data.patch_size * 2 ** lod;
    const x = (outlines[k] / 65535 * 3 - 1) * data.width, y = (outlines[k + 1] / 65535 * 3 - 1) * data.height;
    element("rect", {x: x - side / 2, y: y - side / 2, width: side, height: side, fill: "none", stroke: heat[Math.min(Math.round(lod), 5)],
      "stroke-opacity": 0.85, "vector-effect": "non-scaling-stroke"}, over);
  }
}
function drawPath(i) {
  const past = [];
  for (let k = i; k >= 0 && past.length < 12; k--) if (!data.flight[k]) past.unshift(k);
  const place = (k) => [data.u[k] * data.width, data.v[k] * data.height];
  element("polyline", {points: past.map((k) => place(k).join(",")).join(" "), fill: "none", stroke: "#78dcff", "stroke-opacity": 0.6,
    "stroke-width": 1.5, "vector-effect": "non-scaling-stroke"}, over);
  for (const k of past) element("ellipse", {cx: place(k)[0], cy: place(k)[1], rx: unit * 0.8 / data.sar, ry: unit * 0.8, fill: "#101216", stroke: "#78dcff"}, over);
}
function drawFixation(i) {
  const x = data.u[i] * data.width, y = data.v[i] * data.height, r = unit * 2.4;
  for (const [color, width] of [["#000", 4], [data.flight[i] ? "#ff821e" : "#ffeb3c", 2]]) {
    element("ellipse", {cx: x, cy: y, rx: r / data.sar, ry: r, fill: "none", stroke: color, "stroke-width": width,
      "stroke-dasharray": data.flight[i] ? "4 3" : "none", "vector-effect": "non-scaling-stroke"}, over);
  }
}
let drawn = -1;
function draw(always) {
  const i = at(film.currentTime);
  if (i === drawn && !always) return;
  drawn = i;
  over.replaceChildren();
  if (find("show-outlines").checked) drawOutlines(i);
  if (find("show-path").checked) drawPath(i);
  drawFixation(i);
  const tiles = data.damaged[i] < 0 ? "" : `, ${words(data.damaged[i])} tiles changed`;
  find("now").textContent = `${(data.start + data.t[i]).toFixed(3)} s, frame ${words(data.frame[i])}${data.flight[i] ? ", in flight" : ""}${tiles}`;
  cursor.setAttribute("x1", data.t[i] / span * 1000);
  cursor.setAttribute("x2", data.t[i] / span * 1000);
  plot.setAttribute("aria-valuenow", data.t[i].toFixed(2));
}
const span = Math.max(data.duration, 1e-3);
plot.setAttribute("viewBox", "0 0 1000 110");
plot.setAttribute("preserveAspectRatio", "none");
plot.setAttribute("aria-valuemin", 0);
plot.setAttribute("aria-valuemax", data.duration.toFixed(2));
element("rect", {x: 0, y: 0, width: 1000, height: 110, fill: "#171b21"}, plot);
const tallest = Math.max(...data.damaged, 1);
for (let i = 0; i <= last; i++) {
  const x = data.t[i] / span * 1000, next = i < last ? data.t[i + 1] / span * 1000 : 1000, high = Math.sqrt(Math.max(data.damaged[i], 0) / tallest) * 104;
  element("rect", {class: "damage", x, y: 110 - high, width: Math.max(next - x - 1, 0.6), height: high, fill: "#e6be46"}, plot);
}
const cursor = element("line", {x1: 0, x2: 0, y1: 0, y2: 110, stroke: "#fff", "stroke-width": 2, "vector-effect": "non-scaling-stroke"}, plot);
const seek = (seconds) => { film.currentTime = Math.min(Math.max(seconds, 0), span - 1e-3); };
const seekTo = (event) => { const box = plot.getBoundingClientRect(); seek((event.clientX - box.left) / box.width * span); };
plot.onpointerdown = (event) => { plot.setPointerCapture(event.pointerId); seekTo(event); };
plot.onpointermove = (event) => { if (event.buttons) seekTo(event); };
const step = (by) => { film.pause(); seek(data.t[Math.min(Math.max(at(film.currentTime) + by, 0), last)] + 5e-4); };
const toggle = () => { if (film.paused) film.play(); else film.pause(); };
find("play").onclick = toggle;
film.onplay = film.onpause = film.onended = () => { find("play").textContent = film.paused ? "play" : "pause"; };
film.onseeked = film.ontimeupdate = () => draw(false);
find("show-path").onchange = find("show-outlines").onchange = () => draw(true);
document.onkeydown = (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || (event.key === " " && event.target !== document.body && event.target !== plot)) return;
  const keys = {" ": toggle, ".": () => step(1), ",": () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1)};
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
};
const level = (color, text) => { const span = document.createElement("span"), box = document.createElement("i"); box.style.background = color; span.append(box, text); find("levels").append(span); };
level("#e6be46", "tiles that changed, by the root of their number");
if (count) for (let n = 0; n < 5; n++) level(heat[n], `a sample is ${2 ** n} px wide`);
const follow = () => { draw(false); requestAnimationFrame(follow); };
draw(true);
follow();
</script>
</body>
</html>
)html";

}  // namespace saccade
