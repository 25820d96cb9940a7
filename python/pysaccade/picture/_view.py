"""`view`: the viewer of the program, in a notebook or a browser: `saccade view SOURCE --serve`."""

from __future__ import annotations

import html
import json
import logging
import os
import subprocess
import threading
import weakref
from typing import IO, Any

from pysaccade._native._library import program
from pysaccade.dumps._program import exception_of, option_arguments, said_in_python

_PATIENCE_S = 5.0
_KEPT_LINES = 20
_ELSEWHERE = {"json", "print_config", "help", "version", "offscreen", "screenshot"}  # what shows no page

# In a notebook of Jupyter the page is behind its proxy (jupyter-server-proxy), on the notebook's own origin. On one's
# own machine it is where it listens. Else the link and how to reach it remain.
_SCRIPT = """
(async () => {
  const place = document.currentScript?.parentElement ?? document.getElementById(ID);
  const config = document.getElementById("jupyter-config-data");
  const base = config ? JSON.parse(config.textContent).baseUrl : document.body.dataset.baseUrl;
  const ways = [];
  if (base) ways.push(new URL(`${base.replace(/\\/?$/, "/")}proxy/${PORT}/`, location.href).href);
  if (["localhost", "127.0.0.1"].includes(location.hostname)) ways.push(`http://${location.hostname}:${PORT}/`);
  for (const way of ways) {
    const mode = way.startsWith(location.origin) ? "same-origin" : "no-cors";
    const found = await fetch(way, { mode }).catch(() => null);
    if (!found || (found.type !== "opaque" && !found.ok)) continue;
    const frame = document.createElement("iframe");
    Object.assign(frame, { src: `${way}#${TOKEN}`, allow: "clipboard-write; fullscreen" });
    frame.style.cssText = `width: 100%; height: ${HEIGHT}px; border: 0`;
    return place.replaceChildren(frame);
  }
})();
"""


class View:
    """The viewer of one source, which runs until close(), the end of `with`, or the end of Python.

    A notebook shows its page when it is a cell's last value; elsewhere open `url` in a browser.
    """

    def __init__(self, process: subprocess.Popen[bytes], url: str, height: int) -> None:
        self.url = url
        """The page, with the token of who drives: whoever has it can drive. A notebook that is saved has it, too."""
        self.height = height
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process)

    @property
    def is_running(self) -> bool:
        """Whether it still serves its page."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the viewer. Again: nothing."""
        self._finalizer()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"View({self.url})" if self.is_running else "View(ended)"

    def _repr_html_(self) -> str:
        if not self.is_running:
            return "<p>This viewer has ended.</p>"
        address, token = self.url.split("#")
        port = int(address.rstrip("/").rsplit(":", 1)[1])
        name = f"saccade-view-{port}"
        values = {"ID": name, "PORT": port, "TOKEN": token, "HEIGHT": self.height}
        script = "".join(f"const {key} = {json.dumps(value)};\n" for key, value in values.items()) + _SCRIPT
        link = f'<a href="{html.escape(self.url)}" target="_blank">{html.escape(address)}</a>'
        words = f"The viewer is at {link} of the machine that runs this notebook; docs/REMOTE.md says how to reach it."
        return f'<div id="{name}"><p>{words}</p><script>{{\n{script}}}</script></div>'


def view(source: str | os.PathLike[str], *, height: int = 640, **options: Any) -> View:
    """Watch a video, a camera or a dump, and tune it, in a notebook's cell or a browser.

        sc.view("clip.mp4", view="foveated")

    Args:
        source: A file, a URL, a device, "test://NAME", or a dump's folder.
        height: Of the frame in the notebook, in CSS pixels.
        **options: Those of `saccade view` by their names (docs/OPTIONS.md), with underscores: `pause=True`,
            `patches=160`. `serve` says where it listens, by default on a free port of 127.0.0.1.

    Raises:
        TypeError, ValueError: There is no such option, or its value is wrong.
        InputError: The source can't be used.
        UnavailableError: There is no program, no OpenGL, or it can't listen.
    """
    if isinstance(height, bool) or not isinstance(height, int) or not 100 <= height <= 10000:
        raise ValueError(f"view: height is a number of pixels from 100 to 10000, not {height!r}")
    for key in _ELSEWHERE & options.keys():
        raise TypeError(f"view: option {key}: use the command line")
    where = str(options.pop("serve", "127.0.0.1:0"))
    if where.startswith("unix:"):
        raise ValueError(
            f"view: serve={where!r}: a notebook's page reaches no socket in the file system; use ADDR:PORT"
        )
    words = [f"--serve={where}", "--log-level=warn"]
    for key, value in options.items():
        words += option_arguments("view", key, value)
    command = [str(program()), "view", *words, "--", os.fspath(source)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    said: list[str] = []
    reader = threading.Thread(target=_listen, args=(process.stderr, said), daemon=True)
    reader.start()
    try:
        url = process.stdout.readline().decode().strip()
    except BaseException:
        _end(process)
        raise
    if not url:
        code = process.wait()
        reader.join(_PATIENCE_S)
        _end(process)
        words_said = said_in_python("\n".join(said))
        raise exception_of("view", code, words_said or f"view: the program ended with exit code {code}")
    return View(process, url, height)


def _listen(stream: IO[bytes], said: list[str]) -> None:
    """What the program says goes to the logger; the first lines are kept, should it end at once."""
    logger = logging.getLogger("pysaccade")
    with stream:
        for line in stream:
            text = line.decode(errors="replace").rstrip()
            if len(said) < _KEPT_LINES:
                said.append(text)
            logger.info("%s", text.removeprefix("saccade: "))


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
