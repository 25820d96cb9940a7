// The viewer's page: draws the pictures that come, says honestly how it stands, and knows the token.
import { $, Controls } from "./controls.js";
import { Input } from "./input.js";
import { Link } from "./link.js";
import { forgetToken, isFirst, keepToken, readAddress, tokenIn } from "./token.js";

const MOST = [3840, 2160], LEAST = [320, 200];
const NARROW_PX = 640;
const TOAST_MS = 4000, SECOND_MS = 1000;

const canvas = $("picture"), context = canvas.getContext("2d", { alpha: false });
const stats = { pictures: 0, sharp: 0, bytes: 0, seq: 0, applied: 0, role: "none", lost: 0, state: null };
const counted = { at: performance.now(), pictures: 0, bytes: 0, perSecond: 0, mbits: 0 };
let role = { role: "none" };
let drawnSeq = 0;
let opened = false;
let start = {};

const link = new Link({ open, lost, wrongToken, picture, text: takeText, file: download });
const input = new Input(canvas, link, showFocus);
const controls = new Controls(link, () => resize());
globalThis.saccadeViewer = { stats, link };  // for tests and the curious

// ---- The token ----

function askToken(why) {
  if (why) $("ask-why").textContent = why;
  if (!$("ask-token").open) $("ask-token").showModal();
  $("token").focus();
}

$("ask-token").addEventListener("cancel", (event) => event.preventDefault());  // nothing works without one

function useTyped() {
  const token = tokenIn($("token").value);
  if (!token) return;
  $("token").value = "";
  $("ask-token").close();
  keepToken(token);
  link.use(token);
}

function wrongToken() {
  forgetToken();
  lost("The token is wrong");
  askToken("The token is wrong: the viewer was perhaps started again. Paste the link that it printed last.");
}

// ---- The connection ----

function open() {
  document.body.classList.remove("lost");
  opened = true;
  drawnSeq = 0;
  notice(stats.pictures === 0 ? "Waiting for the first picture" : "");
  link.tell(`hidden ${isHidden() ? 1 : 0}`);
}

function lost(why) {
  document.body.classList.add("lost");
  stats.lost += 1;
  stats.role = "none";
  role = { role: "none" };
  input.setRole(false);
  controls.setRole(false);
  $("take").hidden = $("watch-link").hidden = true;
  $("role").textContent = why;
  $("numbers").textContent = "";
  notice(why.startsWith("Connection lost") && !opened ? "Connecting" : why);
}

function takeText(message) {
  if (message.type === "role") takeRole(message);
  else if (message.type === "state") takeState(message);
  else if (message.type === "clipboard") copy(message.text, message.what);
}

function takeRole(message) {
  const before = role;
  role = message;
  stats.role = message.role;
  const drives = message.role === "drive";
  const others = message.clients - 1;
  const rest = drives ? (others === 0 ? "nobody else watches" : `${others} more ${others === 1 ? "watches" : "watch"}`)
    : message.driven ? "another page drives" : "nobody drives";
  $("role").textContent = `${drives ? "You drive" : "You watch"}, ${rest}`;
  $("take").hidden = drives || !message.may_drive;
  $("watch-link").hidden = !message.watch;
  input.setRole(drives);
  controls.setRole(drives);
  if (drives && before.role !== "drive") begin();
  else showFocus(input.isDriving);
}

let wantedView;  // by the address, until the state says which there are

// What the address asks for, once, and how large the page is.
function begin() {
  resize();
  showFocus(false);
  // Panels would hide the picture, and the bar below has what is needed most.
  if (innerWidth < NARROW_PX && isFirst("saccade narrow")) controls.set("panel", 0);
  const { view, level, speed, paused, t } = start;
  start = {};
  wantedView = view;
  for (const [name, value] of Object.entries({ level, speed, paused })) {
    if (/^[0-9.]+$/.test(value ?? "")) controls.set(name, value);
  }
  if (t !== undefined && Number.isFinite(Number(t))) link.send("seek", Math.max(Number(t), 0));
}

function takeState(state) {
  stats.state = state;
  if (wantedView && state.views.includes(wantedView)) controls.set("view", wantedView);
  wantedView = undefined;
  controls.show(state);
  input.isTyping = state.typing;
  canvas.style.cursor = role.role === "drive" ? state.cursor : "default";
  input.takesEscape = state.escape;
  showTitle();
  if (stats.pictures === 0) notice(state.waits || state.error || "Waiting for the first picture");
  if (state.fullscreen && role.role === "drive") toggleFullscreen();
}

// ---- Pictures ----

async function picture(header, body) {
  stats.bytes += header.bytes;
  let image;
  try {
    image = await createImageBitmap(new Blob([body], { type: "image/jpeg" }));
  } catch {
    return link.tell(`ack ${header.seq}`);
  }
  if (header.seq > drawnSeq) {
    drawnSeq = header.seq;
    if (canvas.width !== header.width) canvas.width = header.width;
    if (canvas.height !== header.height) canvas.height = header.height;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    stats.pictures += 1;
    if (header.sharp) stats.sharp += 1;
    Object.assign(stats, { seq: header.seq, applied: header.applied, isSharp: header.sharp, rung: header.rung });
    notice("");
  }
  image.close();
  link.tell(`ack ${header.seq}`);
  if (role.role === "drive") link.drawn(header.applied);
}

let resizeTimer;
const room = new ResizeObserver(() => {
  clearTimeout(resizeTimer);
  resizeTimer = setTimeout(resize, 120);
});

// Pixels of the screen, within what the viewer draws.
function resize() {
  if (role.role !== "drive") return;
  const { width, height } = canvas.getBoundingClientRect();
  if (width < 1 || height < 1) return;
  let ratio = devicePixelRatio;
  ratio *= Math.min(1, MOST[0] / (width * ratio), MOST[1] / (height * ratio));
  ratio *= Math.max(1, LEAST[0] / (width * ratio), LEAST[1] / (height * ratio));
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  const points = Math.min(Math.max(ratio * controls.scale, 0.5), 4);
  link.send("resize", `${w} ${h} ${points.toFixed(3)}`);
}

function watchRatio() {
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => (resize(), watchRatio()), { once: true });
}

// ---- Words ----

const isStyled = getComputedStyle(document.body).display === "grid";

function showTitle() {
  const name = stats.state?.title.split("/").pop();
  document.title = `${standsHidden ? "waits, hidden - " : ""}${name ? `${name} - ` : ""}saccade`;
}

function notice(words) {
  const text = words || (isStyled ? "" : "The style of this page has not loaded. Reload the page.");
  $("notice").classList.remove("loading");
  $("notice").hidden = text === "";
  if ($("notice").textContent !== text) $("notice").textContent = text;
}

let toastTimer;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), TOAST_MS);
}

function showFocus(driving) {
  const drives = role.role === "drive";
  $("focus-hint").textContent = !drives ? "" : driving ? "Keys go to the viewer; Esc lets go" : "Click the picture to use keys and wheel";
}

function showNumbers() {
  const now = performance.now(), seconds = (now - counted.at) / 1000;
  counted.perSecond = (stats.pictures - counted.pictures) / seconds;
  counted.mbits = ((stats.bytes - counted.bytes) * 8) / 1e6 / seconds;
  Object.assign(counted, { at: now, pictures: stats.pictures, bytes: stats.bytes });
  if (!link.isOpen) return;
  const words = [`${Math.round(counted.perSecond)} pictures/s`, `${counted.mbits.toFixed(1)} Mbit/s`];
  if (link.roundTrip !== null) words.push(`${Math.round(link.roundTrip)} ms to the server and back`);
  if (link.delay !== null) words.push(`${Math.round(link.delay)} ms from input to picture`);
  $("numbers").textContent = words.join(" · ");
}

// ---- Downloads and the clipboard ----

function download(name, bytes) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10 * SECOND_MS);
  toast(`Downloaded ${name}`);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied ${what}`);
  } catch {  // not over plain http, nor long after a click
    $("copy-text").value = text;
    if (!$("copy").open) $("copy").showModal();
    $("copy-text").select();
  }
}

async function toggleFullscreen() {
  try {
    await (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen());
  } catch {
    toast("The browser allows full screen only after a click or a key");
  }
}

// ---- Hidden: nothing is drawn, and a file stands still ----

let isOnScreen = true;
const isHidden = () => document.hidden || !isOnScreen;
let wasHidden = false, standsHidden = false;

function tellHidden() {
  const hidden = isHidden();
  if (hidden === wasHidden) return;
  wasHidden = hidden;
  link.tell(`hidden ${hidden ? 1 : 0}`);
  const { state } = stats;
  const stands = role.role === "drive" && role.clients === 1 && state && !state.live && !state.paused && !state.ended;
  if (!hidden && standsHidden) toast("It stood still while this page was hidden");
  standsHidden = Boolean(hidden && stands);
  showTitle();
}

document.addEventListener("visibilitychange", tellHidden);
new IntersectionObserver((entries) => {
  isOnScreen = entries.at(-1).isIntersecting;
  tellHidden();
}).observe(canvas);

$("take").addEventListener("click", () => link.tell("take"));
$("fullscreen").addEventListener("click", () => ($("more").open = false, toggleFullscreen()));
$("watch-link").addEventListener("click", () => {
  $("more").open = false;
  copy(`${location.origin}${location.pathname}#${role.watch}`, "the link for watching");
});
$("use-token").addEventListener("click", useTyped);
$("token").addEventListener("keydown", (event) => event.key === "Enter" && useTyped());
$("copy-done").addEventListener("click", () => $("copy").close());
addEventListener("hashchange", () => {
  const found = readAddress();
  if (found.token !== link.token) return location.reload();
  start = found.start;
  if (role.role === "drive") begin();
});

room.observe(canvas);
watchRatio();
setInterval(showNumbers, SECOND_MS);
controls.setRole(false);
$("role").textContent = "connecting";
const found = readAddress();
start = found.start;
if (found.token) {
  notice("Connecting");
  link.use(found.token);
} else {
  askToken("");
}
