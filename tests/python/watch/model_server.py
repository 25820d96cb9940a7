"""A server of a model for tests, of both protocols: it answers with the words of what it was sent, or as it is told."""

from __future__ import annotations

import base64
import http.server
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

Picture = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self._blocks if block["type"] == "text")

    @property
    def pictures(self) -> list[Picture]:
        """As the model gets them."""
        found = []
        for block in self._blocks:
            data = block["source"]["data"] if block["type"] == "image" else None
            if block["type"] == "image_url":
                data = block["image_url"]["url"].partition(",")[2]
            if data is not None:
                found.append(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))))
        return found

    @property
    def _blocks(self) -> list[dict[str, Any]]:
        (message,) = self.body["messages"]
        blocks: list[dict[str, Any]] = message["content"]
        return blocks


@dataclass
class Fault:
    """An answer other than 200."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    breaks: bool = False
    """The connection ends without an answer."""


@dataclass
class ModelServer:
    url: str
    requests: list[Request]


@contextmanager
def model_server(
    answer: Callable[[int, Request], str | Fault] = lambda number, _: f"answer {number}",
) -> Iterator[ModelServer]:
    """`answer`: of the request of a number from 0; it may wait as long as it likes."""
    requests: list[Request] = []
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            with lock:
                number = len(requests)
                requests.append(request)
            said = answer(number, request)
            if isinstance(said, Fault):
                if not said.breaks:
                    self.reply(said.code, said.body.encode(), said.headers)
            else:
                self.reply(200, json.dumps(form(self.path, said)).encode(), {})

        def reply(self, code: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(code)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield ModelServer(f"http://127.0.0.1:{server.server_port}", requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def form(path: str, text: str) -> dict[str, Any]:
    if path.endswith("/messages"):
        return {"content": [{"type": "text", "text": text}], "usage": {"input_tokens": 7}}
    return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": {"prompt_tokens": 7}}
