// The bar below the picture: what the viewer's state says, and what a person asks of it without the keyboard.
const SPEEDS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8, 16];
const QUALITIES = ["best", "good", "fair", "plain", "half size", "smallest"];
const SCALES = [0.75, 1, 1.25, 1.5, 2];
const SEEK_MS = 60;  // between two while the bar is dragged

export const $ = (id) => document.getElementById(id);

export function timeText(seconds) {
  const tenths = Math.round(seconds * 10);
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(tenths / 36000), minutes = Math.floor(tenths / 600) % 60;
  const rest = `${two(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

function fill(select, options) {
  const wanted = options.map(([value]) => value).join("\n");
  if (select.dataset.options === wanted) return;
  select.dataset.options = wanted;
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
}

function remembered(name, fallback) {
  try {
    return localStorage.getItem(`saccade ${name}`) ?? fallback;
  } catch {
    return fallback;  // storage is switched off
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(`saccade ${name}`, value);
  } catch { /* as above */ }
}

export class Controls {
  // scaled(): called when another size of text is chosen.
  constructor(link, scaled) {
    this.link = link;
    this.scaled = scaled;
    this.state = null;
    this.isDriver = false;
    fill($("level"), Array.from({ length: 10 }, (_, level) => [level, level]));
    fill($("scale"), SCALES.map((scale) => [scale, `${scale * 100} %`]));
    $("scale").value = remembered("scale", 1);
    if (!$("scale").value) $("scale").value = 1;
    this.bindButtons();
    this.bindSelects();
    this.bindSeek();
  }

  get scale() {
    return Number($("scale").value);
  }

  set(name, value) {
    this.link.send("set", `${name} ${value}`);
  }

  bindButtons() {
    const click = (id, act) => $(id).addEventListener("click", act);
    click("play", () => this.set("paused", this.state?.paused ? 0 : 1));
    click("back", () => this.link.send("step", -1));
    click("on", () => this.link.send("step", 1));
    click("loop", () => this.set("loop", this.state?.loop ? 0 : 1));
    click("panel", () => this.set("panel", this.state?.panel ? 0 : 1));
    for (const what of ["screenshot", "settings", "line"]) click(what, () => this.ask(what));
    addEventListener("pointerdown", (event) => {
      if (!$("more").contains(event.target)) $("more").open = false;
    });
    $("more").addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      $("more").open = false;
      $("more").firstElementChild.focus();
    });
  }

  ask(what) {
    $("more").open = false;
    this.link.send("ask", what);
  }

  bindSelects() {
    for (const name of ["speed", "view", "level", "quality"]) {
      $(name).addEventListener("change", () => this.set(name, $(name).value));
    }
    $("scale").addEventListener("change", () => {
      remember("scale", $("scale").value);
      this.scaled();
    });
  }

  bindSeek() {
    const seek = $("seek");
    seek.addEventListener("input", () => {
      this.isSeeking = true;
      this.showTime(Number(seek.value));
      this.seekTimer ??= setTimeout(() => this.sendSeek(), SEEK_MS);
    });
    seek.addEventListener("change", () => {
      clearTimeout(this.seekTimer);
      this.sendSeek();
      this.isSeeking = false;
    });
  }

  sendSeek() {
    this.seekTimer = null;
    this.seekNumber = this.link.send("seek", $("seek").value);
  }

  setRole(isDriver) {
    this.isDriver = isDriver;
    const here = ["play", "back", "on", "seek", "speed", "view", "level", "loop", "panel", "quality", "screenshot", "settings", "line"];
    for (const id of here) $(id).disabled = !isDriver;
    if (this.state) this.show(this.state);
  }

  showTime(seconds) {
    const { duration, live } = this.state ?? {};
    const text = live ? `live ${timeText(seconds)}` : duration > 0 ? `${timeText(seconds)} / ${timeText(duration)}` : timeText(seconds);
    if ($("time").textContent !== text) $("time").textContent = text;
    $("seek").setAttribute("aria-valuetext", text);
  }

  show(state) {
    this.state = state;
    const stands = state.paused || state.ended;
    document.body.classList.toggle("paused", stands);
    const play = stands ? "Play" : "Pause";
    $("play").title = play;
    $("play").setAttribute("aria-label", play);
    const seekable = state.seekable && state.duration > 0;
    $("seek").hidden = $("back").hidden = $("on").hidden = !seekable;
    $("seek").max = state.duration;
    const arrived = !this.seekNumber || state.applied >= this.seekNumber || !this.isDriver;
    if (!this.isSeeking && arrived) {
      $("seek").value = state.t;
      this.showTime(state.t);
    }
    this.showSelects(state);
    for (const id of ["loop", "panel"]) $(id).setAttribute("aria-pressed", state[id]);
    $("loop").hidden = state.live;
  }

  showSelects(state) {
    const speeds = SPEEDS.some((speed) => Math.abs(speed - state.speed) < 1e-9) ? SPEEDS : [...SPEEDS, state.speed].sort((a, b) => a - b);
    fill($("speed"), speeds.map((speed) => [speed, `${Number(speed.toFixed(2))}×`]));
    fill($("view"), state.views.map((view) => [view, view]));
    fill($("quality"), [[-1, `automatic (${QUALITIES[state.rung]})`], ...QUALITIES.map((text, rung) => [rung, text])]);
    $("quality").options[0].text = state.rung_fixed ? "automatic" : `automatic (${QUALITIES[state.rung]})`;
    const values = { speed: state.speed, view: state.view, level: state.level, quality: state.rung_fixed ? state.rung : -1 };
    for (const [id, value] of Object.entries(values)) {
      if (document.activeElement !== $(id) || !this.isDriver) $(id).value = value;
    }
    $("level-label").hidden = state.view !== "level";
    $("speed").parentElement.hidden = state.live;
  }
}
