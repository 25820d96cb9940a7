"""MiniWoB's pages (of PyPI's `miniwob`), many beside each other on one page, each with its episode begun by a seed."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import pathlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INDEX = """<!DOCTYPE html><html><head><title>MiniWoB {begin}</title><style>
body {{ margin: 0; background: #eee }} div {{ display: grid; grid-template-columns: repeat({columns}, 1fr); gap: 26px }}
iframe {{ width: 160px; height: 212px; border: 1px solid #999; background: #fff; justify-self: center }}
</style></head><body><div>{frames}</div><script>
addEventListener("load", () => document.querySelectorAll("iframe").forEach((frame, seed) => {{
  const page = frame.contentWindow;
  try {{
    page.setInterval = page.requestAnimationFrame = () => 0;
    page.Math.seedrandom("" + seed);
    page.core.EPISODE_MAX_TIME = 1e9;
    page.core.startEpisodeReal();
  }} catch (error) {{ frame.style.visibility = "hidden"; }}
}}));
</script></body></html>"""


def folder() -> pathlib.Path | None:
    """Where the package has its pages; None: it is not installed."""
    found = importlib.util.find_spec("miniwob")
    return pathlib.Path(next(iter(found.submodule_search_locations)), "html") if found else None


@contextmanager
def served(html: pathlib.Path, each: int = 75, columns: int = 15) -> Iterator[list[str]]:
    """Addresses of pages with `each` tasks, as long as the context lasts."""
    names = sorted(path.stem for path in (html / "miniwob").glob("*.html"))
    indexes = {}
    for begin in range(0, len(names), each):
        frames = "".join(
            f'<iframe scrolling="no" src="/miniwob/{name}.html"></iframe>' for name in names[begin : begin + each]
        )
        indexes[f"/index{begin}.html"] = INDEX.format(begin=begin, columns=columns, frames=frames).encode()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in indexes:
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(indexes[self.path])

        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Handler, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield [f"http://127.0.0.1:{server.server_port}{path}" for path in indexes]
        finally:
            server.shutdown()
