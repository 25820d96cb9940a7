// The socket to the viewer: says hello, asks again when the connection is lost, numbers what is sent.
const VERSION = 1;
const HEADER_BYTES = 32;
const DEAD_MS = 8000, PING_MS = 2000;

// What the server's own codes of closing mean; see ui/web/server/sockets.h.
const CLOSED = {
  4400: { text: "The viewer didn't understand this page. Trying again", after: 3000 },
  4401: { text: "The token is wrong", token: true },
  4403: { text: "As many watch as may. Trying again", after: 4000 },
  4426: { text: "The viewer is of another version: reload this page", after: null },
  4429: { text: "This page said too much at once. Trying again", after: 1000 },
};

export class Link {
  // handlers: picture(header, bytes), file(name, bytes), text(message), open(), lost(text), wrongToken()
  constructor(handlers) {
    this.handlers = handlers;
    this.number = 0;
    this.sentAt = new Map();
    this.roundTrip = null;
    this.delay = null;
    this.delays = [];
    this.tries = 0;
    this.ended = "";  // what the viewer said when it ended, until one is there again
    setInterval(() => this.beat(), PING_MS);
    addEventListener("online", () => this.connectSoon(0));
  }

  use(token) {
    this.token = token;
    this.tries = 0;
    this.connectSoon(0);
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN && this.greeted;
  }

  connectSoon(ms) {
    clearTimeout(this.timer);
    if (this.token) this.timer = setTimeout(() => this.connect(), ms);
  }

  connect() {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    const url = new URL("socket", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.hash = url.search = "";
    const socket = (this.socket = new WebSocket(url));
    this.greeted = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.heardAt = performance.now();
      socket.send(`hello ${VERSION} ${this.token}`);
    };
    socket.onmessage = (event) => socket === this.socket && this.take(event.data);
    socket.onclose = (event) => socket === this.socket && this.closed(event.code, event.reason);
  }

  take(data) {
    this.heardAt = performance.now();
    if (!this.greeted) {
      this.greeted = true;
      this.tries = 0;
      this.ended = "";
      this.sentAt.clear();
      this.roundTrip = this.delay = null;
      this.handlers.open();
    }
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.type === "pong") this.roundTrip = performance.now() - message.t;
      else this.handlers.text(message);
      return;
    }
    const view = new DataView(data);
    const body = new Uint8Array(data, HEADER_BYTES);
    if (view.getUint8(0) === 2) {
      const zero = body.indexOf(0);
      return this.handlers.file(new TextDecoder().decode(body.subarray(0, zero)), body.subarray(zero + 1));
    }
    this.handlers.picture({
      sharp: (view.getUint8(1) & 1) !== 0,
      rung: view.getUint8(2),
      seq: view.getUint32(4, true),
      applied: view.getUint32(8, true),
      width: view.getUint16(12, true),
      height: view.getUint16(14, true),
      bytes: data.byteLength,
    }, body);
  }

  closed(code, reason = "") {
    if (code === 1001) this.ended = `The viewer ended${reason && `: ${reason}`}. Trying again`;
    const why = CLOSED[code] ?? { text: this.ended || "Connection lost. Trying again", after: Math.min(500 * 1.6 ** this.tries, 5000) };
    this.tries += 1;
    this.greeted = false;
    if (why.token) {
      this.token = null;
      return this.handlers.wrongToken();
    }
    this.handlers.lost(why.text);
    if (why.after !== null) this.connectSoon(why.after);
  }

  // A connection over which nothing comes any more, as after a laptop's sleep, is given up.
  beat() {
    if (!this.socket) return;
    if (document.hidden) {
      this.heardAt = performance.now();  // nothing is sent to a page that nobody sees
      return;
    }
    if (this.socket.readyState === WebSocket.OPEN && performance.now() - this.heardAt > DEAD_MS) {
      const socket = this.socket;
      this.socket = null;
      socket.close();
      return this.closed(0);
    }
    if (this.isOpen) this.socket.send(`ping ${performance.now().toFixed(1)}`);
  }

  // What is no input: acks, hidden, take.
  tell(text) {
    if (this.isOpen) this.socket.send(text);
  }

  // An input: `kind N rest`. Returns N, or 0 when it could not be sent.
  send(kind, rest = "") {
    if (!this.isOpen) return 0;
    this.number += 1;
    this.sentAt.set(this.number, performance.now());
    if (this.sentAt.size > 500) this.sentAt.delete(this.sentAt.keys().next().value);
    this.socket.send(rest === "" ? `${kind} ${this.number}` : `${kind} ${this.number} ${rest}`);
    return this.number;
  }

  // A picture with input `applied` in it was drawn.
  drawn(applied) {
    const at = this.sentAt.get(applied);
    if (at !== undefined) {
      this.delay = performance.now() - at;
      this.delays.push(this.delay);
      if (this.delays.length > 1000) this.delays.shift();
    }
    for (const number of this.sentAt.keys()) {
      if (number > applied) break;
      this.sentAt.delete(number);
    }
  }
}
