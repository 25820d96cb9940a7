"""A real browser without a screen, led over the DevTools protocol."""
import asyncio
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from patience import PATIENCE
from required import skip_or_fail

try:
    import websockets
except ImportError:
    websockets = None

PROGRAMS = ("chromium-headless-shell", "chromium")
BUTTONS = {"left": 1, "right": 2, "middle": 4}


def find_program():
    if websockets is None:
        skip_or_fail("browser", "python3-websockets is not installed")
    for name in PROGRAMS:
        if shutil.which(name):
            return name
    skip_or_fail("browser", "chromium-headless-shell is not installed")


def connect(loop, url, **options):
    """A WebSocket, whose calls `loop` runs."""
    async def made():
        return await websockets.connect(url, max_size=None, ping_interval=None, **options)
    return loop.run_until_complete(made())


class Browser:
    """One process; close() ends all of its group."""

    def __init__(self, *arguments):
        program = find_program()
        self.folder = tempfile.mkdtemp(prefix="saccade-browser-")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={self.folder}/profile",
                 "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage", "--no-proxy-server"]
        self.process = subprocess.Popen([program, *flags, *arguments, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.loop = asyncio.new_event_loop()
        self.number = 0
        self.events = []
        try:
            port, path = self._find_port()
            self.socket = connect(self.loop, f"ws://127.0.0.1:{port}{path}")
        except Exception:
            self._end_process()
            raise

    def _find_port(self):
        told = pathlib.Path(self.folder) / "profile" / "DevToolsActivePort"
        end = time.monotonic() + 60 * PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"the browser ended: {self.process.returncode}")
            if told.exists() and len(lines := told.read_text().splitlines()) >= 2:
                return lines[0], lines[1]
            time.sleep(0.05)
        raise AssertionError("the browser opened no port")

    def _end_process(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self):
        self.loop.run_until_complete(self.socket.close())
        self._end_process()

    def receive(self, seconds):
        """One message, or None when none comes in time."""
        async def take():
            return await asyncio.wait_for(self.socket.recv(), seconds)
        try:
            return json.loads(self.loop.run_until_complete(take()))
        except asyncio.TimeoutError:
            return None

    def call(self, method, session=None, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        self.loop.run_until_complete(self.socket.send(json.dumps(message)))
        end = time.monotonic() + 60 * PATIENCE
        while time.monotonic() < end:
            answer = self.receive(max(end - time.monotonic(), 0.01))
            if answer is None:
                break
            if answer.get("id") != number:
                self.events.append(answer)
            elif "error" in answer:
                raise AssertionError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]
        raise AssertionError(f"{method}: no answer")

    def open(self, url="about:blank", size=(1280, 800), ratio=1, context=None):
        return Tab(self, url, size, ratio, context)


class Tab:
    """A page of its own; context: a browserContextId, in which storage is shared."""

    def __init__(self, browser, url, size, ratio, context):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank", **({"browserContextId": context} if context else {}))["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        self.buttons = 0
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(*size, ratio)
        if url != "about:blank":
            self.go(url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height, ratio=1, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=mobile)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'", f"{url} loaded")

    def reload(self):
        self.call("Page.reload")
        self.wait_for("document.readyState === 'complete'", "loaded again")

    def value(self, expression):
        """Of JavaScript, awaited, as JSON has it."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, expression, what, seconds=30):
        end = time.monotonic() + seconds * PATIENCE
        while True:
            try:
                value = self.value(expression)
            except AssertionError:  # the page is being loaded
                value = None
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds * PATIENCE} s: {what}; {self.complaints()}")
            time.sleep(0.03)

    def picture(self, path):
        """A screenshot, as PNG."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        pathlib.Path(path).write_bytes(data)
        return path

    def complaints(self):
        """What the console and the network had to say since the last call, but for what is only told."""
        self.value("0")  # what was on its way is here then
        found, others = [], []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                others.append(event)
                continue
            params, method = event.get("params", {}), event["method"]
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description") or params["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled":
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif method == "Log.entryAdded":
                found.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        self.browser.events = others
        return found

    def requests(self):
        """The addresses that were asked for so far."""
        self.value("0")
        return [e["params"]["request"]["url"] for e in self.browser.events
                if e.get("sessionId") == self.session and e["method"] == "Network.requestWillBeSent"]

    # Places are CSS pixels of the page.
    def mouse(self, kind, x, y, button="none", **more):
        if kind == "mousePressed":
            self.buttons |= BUTTONS[button]
        elif kind == "mouseReleased":
            self.buttons &= ~BUTTONS[button]
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=self.buttons, **more)

    def click(self, x, y, button="left"):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button, clickCount=1)
        self.mouse("mouseReleased", x, y, button, clickCount=1)

    def wheel(self, x, y, dy):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=dy)

    def key(self, key, code="", text="", modifiers=0):
        """modifiers: 1 alt, 2 control, 4 meta, 8 shift, as DevTools has them."""
        common = {"key": key, "code": code or (f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else key), "modifiers": modifiers,
                  "windowsVirtualKeyCode": ord(key.upper()) if len(key) == 1 else {"Tab": 9, "Escape": 27, "Enter": 13, "Backspace": 8}.get(key, 0)}
        text = text or (key if len(key) == 1 and not modifiers & 6 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def close(self):
        if self.target:
            self.browser.call("Target.closeTarget", targetId=self.target)
        self.target = None
