// Mouse, touch and keys on the picture. A click gives it the keyboard, Escape takes it back; what the browser needs
// for itself it keeps.
const SHIFT = 1, CONTROL = 2, ALT = 4, REPEATED = 16;
const WHEEL_PIXELS = 100, WHEEL_LINES = 3, PINCH_STEP = 1.15;
const SLACK = 6;  // how far a finger may slip in a tap
const BUTTONS = [0, 2, 1];  // the DOM's to the viewer's: left, right, middle
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];
const IS_MAC = /^Mac/.test(navigator.platform);

export class Input {
  // driving(on): called when the picture gets or loses the keyboard.
  constructor(canvas, link, driving) {
    Object.assign(this, { canvas, link, told: driving });
    this.isDriver = this.isTyping = this.isDriving = this.takesEscape = false;
    this.down = new Map();  // keys that are held: code -> key
    this.fingers = new Map();
    const on = (name, handle, options) => canvas.addEventListener(name, (event) => handle.call(this, event), options);
    on("pointerdown", this.pointerDown);
    on("pointermove", this.pointerMove);
    on("pointerup", this.pointerUp);
    on("pointercancel", this.pointerUp);
    on("pointerleave", (event) => this.isDriving && event.buttons === 0 && this.flushMove() & this.link.send("leave"));
    on("wheel", this.wheel, { passive: false });
    on("keydown", this.keyDown);
    on("keyup", this.keyUp);
    on("blur", this.letGo);
    on("contextmenu", (event) => this.isDriving && event.preventDefault());
    addEventListener("paste", (event) => this.paste(event));
  }

  setRole(isDriver) {
    this.isDriver = isDriver;
    if (!isDriver) this.letGo();
  }

  drive() {
    if (!this.isDriver || this.isDriving) return;
    this.isDriving = true;
    this.canvas.focus({ preventScroll: true });
    this.canvas.classList.add("driving");
    this.told(true);
  }

  letGo() {
    if (!this.isDriving) return;
    this.isDriving = false;
    for (const [code, key] of this.down) this.link.send("key", `up ${key} 0 ${code}`);
    this.link.send("key", "up Control 0 ControlLeft");  // none is held any more
    this.down.clear();
    this.fingers.clear();
    this.dragging = false;
    this.link.send("leave");
    this.canvas.classList.remove("driving");
    this.told(false);
  }

  // In pixels of the framebuffer, wherever the picture lies in its element.
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const { width, height } = this.canvas;
    const scale = Math.min(box.width / width, box.height / height);
    const x = (event.clientX - box.left - (box.width - width * scale) / 2) / scale;
    const y = (event.clientY - box.top - (box.height - height * scale) / 2) / scale;
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  }

  move(place) {
    this.moved = place;
    this.frame ??= requestAnimationFrame(() => this.flushMove());
  }

  flushMove() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    if (this.moved) this.link.send("move", this.moved);
    this.moved = null;
  }

  button(kind, place, button) {
    this.flushMove();
    this.link.send(kind, `${place} ${button}`);
  }

  pointerDown(event) {
    if (!this.isDriver) return;
    event.preventDefault();
    this.drive();
    this.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") return this.fingerDown(event);
    this.button("press", this.place(event), BUTTONS[event.button] ?? 0);
  }

  pointerMove(event) {
    if (!this.isDriving) return;
    if (event.pointerType === "touch") return this.fingerMove(event);
    this.move(this.place(event));
  }

  pointerUp(event) {
    if (!this.isDriving) return;
    if (event.pointerType === "touch") return this.fingerUp(event);
    this.button("release", this.place(event), BUTTONS[event.button] ?? 0);
  }

  // One finger is the mouse, but a press waits until it is known that no second finger comes. Two drag and zoom.
  fingerDown(event) {
    this.fingers.set(event.pointerId, event);
    this.start ??= event;
    if (this.fingers.size !== 2) return;
    this.pinch = this.spread();
    if (!this.dragging) this.button("press", this.place(this.middle()), 0);
    this.dragging = true;
    this.move(this.place(this.middle()));
  }

  fingerMove(event) {
    if (!this.fingers.has(event.pointerId)) return;
    this.fingers.set(event.pointerId, event);
    if (this.fingers.size > 1) {
      const spread = this.spread();
      const notches = Math.log(spread / this.pinch) / Math.log(PINCH_STEP);
      if (Number.isFinite(notches) && Math.abs(notches) > 0.05) {
        this.pinch = spread;
        this.sendWheel(this.place(this.middle()), 0, notches);
      }
    } else if (!this.dragging) {
      const slipped = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY);
      if (slipped < SLACK) return;
      this.button("press", this.place(this.start), 0);
      this.dragging = true;
    }
    this.move(this.place(this.middle()));
  }

  fingerUp(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    if (this.fingers.size > 0) return;
    if (!this.dragging && event.type === "pointerup") this.button("press", this.place(event), 0);
    if (this.dragging || event.type === "pointerup") this.button("release", this.place(event), 0);
    this.dragging = false;
    this.start = null;
  }

  middle() {
    const all = [...this.fingers.values()];
    const mean = (name) => all.reduce((sum, finger) => sum + finger[name], 0) / all.length;
    return { clientX: mean("clientX"), clientY: mean("clientY") };
  }

  spread() {
    const [one, other] = [...this.fingers.values()];
    return Math.max(Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY), 1);
  }

  wheel(event) {
    if (!this.isDriving) return;  // the page around scrolls
    event.preventDefault();
    const unit = [WHEEL_PIXELS, WHEEL_LINES, 1][event.deltaMode];
    const pinched = event.ctrlKey ? 4 : 1;  // a touchpad's pinch comes in small steps
    const dx = -event.deltaX / unit, dy = (-event.deltaY / unit) * pinched;
    this.sendWheel(this.place(event), dx, dy);
  }

  sendWheel(place, dx, dy) {
    this.flushMove();
    this.link.send("wheel", `${place} ${dx.toFixed(3)} ${dy.toFixed(3)}`);
  }

  sendKey(way, key, event) {
    this.link.send("key", `${way} ${key} ${this.modifiers(event)} ${event.code || "Unidentified"}`);
  }

  // False: the browser's own.
  isOurs(event) {
    if (event.isComposing || event.keyCode === 229 || /^(F\d+|Browser.*|Media.*|Launch.*|Audio.*|Unidentified)$/.test(event.key)) return false;
    const types = event.key.length === 1;
    if (event.getModifierState("AltGraph") || (event.ctrlKey && event.altKey)) return types;
    if (event.ctrlKey || event.metaKey) return this.isTyping && types && "acxyz".includes(event.key.toLowerCase());
    return !event.altKey || (IS_MAC && types);
  }

  modifiers(event) {
    const option = IS_MAC && event.altKey && !event.ctrlKey;  // types a character of its own there
    return (event.shiftKey ? SHIFT : 0) | (event.ctrlKey || event.metaKey ? CONTROL : 0) |
      (event.altKey && !option ? ALT : 0) | (event.repeat ? REPEATED : 0);
  }

  keyDown(event) {
    if (!this.isDriving) {
      if (event.key !== "Enter" || !this.isDriver) return;
      event.preventDefault();
      return this.drive();
    }
    if (MODIFIERS.includes(event.key)) return event.repeat || this.sendKey("down", event.key, event);
    if (!this.isOurs(event)) return;
    event.preventDefault();
    const key = event.key === " " ? "Space" : event.key;
    this.sendKey("down", key, event);
    this.down.set(event.code || "Unidentified", key);
    if (event.key === "Escape" && !this.isTyping && !this.takesEscape) {
      this.letGo();
      this.canvas.blur();
    }
  }

  keyUp(event) {
    const code = event.code || "Unidentified";
    const key = this.down.get(code) ?? (MODIFIERS.includes(event.key) ? event.key : undefined);
    if (!this.isDriving || key === undefined) return;
    this.down.delete(code);
    this.sendKey("up", key, event);
  }

  paste(event) {
    if (!this.isDriving || document.activeElement !== this.canvas) return;
    const text = event.clipboardData.getData("text/plain").replace(/[\r\n\t]+/g, " ");
    event.preventDefault();
    if (text) this.link.send("paste", text.slice(0, 1000));
  }
}
