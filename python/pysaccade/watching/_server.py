"""`Server`: requests to a model's server, each on a thread, in the form of its API."""

from __future__ import annotations

import datetime
import email.utils
import json
import math
import os
import queue
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pysaccade._native._arguments import quoted, shown_url, whole

_AGAIN = {408, 409, 425, 429}
_STOP = {401, 402, 403, 404, 405}
_MOST_BYTES = 1 << 24
_SHOWN = 200  # characters of an answer in an error


class ServerError(RuntimeError):
    """The model's server refuses to be asked like this: the key, the address or the model is wrong."""


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    text: str
    usage: Any


@dataclass(frozen=True)
class Failure:
    """Why there is no reply."""

    line: str
    refused: bool = False
    """The server does not want what it was sent, so the same is not sent again."""
    stop: bool = False
    """No request can succeed."""
    counted: bool = True
    """The model may have counted its tokens."""
    foreign: bool = False
    """The answer is not one of the API: another server may be there."""
    retry_after: float | None = None


Outcome = tuple[int, "Reply | Failure"]


class Server:
    """A server of one model. Keys come from the environment, and are replaced in all that it says."""

    def __init__(self, url: str, api: str, model: str, timeout: float, max_tokens: int | None) -> None:
        """`timeout`: seconds without a byte."""
        if api not in APIS:
            raise ValueError(f"watch: api is {' or '.join(APIS)}, not {quoted(api)}")
        form = APIS[api]
        parts = _parts(url)
        if "@" in parts.netloc:
            raise ValueError(f"watch: the server's URL has a user; put the key into {form.key_name} instead")
        path = parts.path.rstrip("/")
        if not path.endswith(form.path):
            path += form.path if not (form.path.startswith("/v1") and path.endswith("/v1")) else form.path[3:]
        self._url = parts._replace(path=path).geturl()
        self._form, self._timeout = form, timeout
        self._key = os.environ.get(form.key_name, "").strip()
        if not self._key.isascii() or not self._key.isprintable():
            raise ValueError(f"watch: {form.key_name} has characters that no key has; set it again")
        self._secrets = _spellings(self._key)
        most = {} if max_tokens is None else {"max_tokens": whole(max_tokens, "watch", "max_tokens", 1, 1 << 30)}
        self._fixed = {"model": model, **form.fixed, **most}
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

    def send(self, number: int, messages: Sequence[Mapping[str, Any]]) -> None:
        """Begin a request. Its outcome comes under this number."""
        body = json.dumps({**self._fixed, "messages": messages}).encode()
        threading.Thread(target=self._run, args=(number, body), daemon=True, name=f"watch-{number}").start()

    def outcome(self, timeout: float) -> Outcome | None:
        """The next outcome, in the order in which they come; None: there was none for so many seconds."""
        try:
            return self._outcomes.get(timeout=timeout) if timeout > 0 else self._outcomes.get_nowait()
        except queue.Empty:
            return None

    def _run(self, number: int, body: bytes) -> None:
        self._outcomes.put((number, self._ask(body)))

    def _ask(self, body: bytes) -> Reply | Failure:
        headers = {"Content-Type": "application/json", "User-Agent": "pysaccade", **self._form.headers(self._key)}
        try:
            request = urllib.request.Request(self._url, body, headers, method="POST")
            with self._opener.open(request, timeout=self._timeout) as response:
                text = self._clean(response.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            return self._failure(error)
        except TimeoutError:
            return Failure(f"nothing came for {self._timeout:g} s")
        except urllib.error.URLError as error:  # it was not reached
            if isinstance(error.reason, TimeoutError):
                return Failure(f"nothing came for {self._timeout:g} s")
            return Failure(self._clean(str(error.reason)), counted=False)
        except Exception as error:  # the connection ended
            return Failure(self._clean(str(error) or type(error).__name__))
        try:
            return self._form.read(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError):
            advice = "check the URL and the API"
            return Failure(f"its answer is not one of this API: {text[:_SHOWN]!r}; {advice}", foreign=True)

    def _failure(self, error: urllib.error.HTTPError) -> Failure:
        with error:
            try:
                text = " ".join(self._clean(error.read(_MOST_BYTES)).split())[:_SHOWN]
            except Exception:  # the connection ended
                text = ""
        code = error.code
        again = code in _AGAIN or code >= 500
        advice = self._advice(code)
        return Failure(
            f"{code} {self._clean(str(error.reason))}{': ' if text else ''}{text}{'; ' if advice else ''}{advice}",
            refused=not again,
            stop=code in _STOP or code < 400,
            counted=False,
            retry_after=_seconds(error.headers.get("Retry-After")),
        )

    def _advice(self, code: int) -> str:
        if code in (401, 403):
            return f"{'check' if self._key else 'set'} {self._form.key_name}"
        if code in (404, 405):
            return "check the URL and the model's name"
        return "give the URL that it redirects to" if code < 400 else ""

    def _clean(self, said: bytes | str) -> str:
        text = said if isinstance(said, str) else said.decode("utf-8", "replace")
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def __str__(self) -> str:
        return shown_url(self._url)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirection would take the key to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _parts(url: str) -> urllib.parse.SplitResult:
    """A server's URL.

    Raises:
        ValueError: It is not one.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except (AttributeError, TypeError, ValueError):  # brackets, or a port that there is not
        fits = False
    if not fits or re.search(r"[^!-~]", url):
        given = _without_query(url) if isinstance(url, str) else url
        raise ValueError(f"watch: the server is a URL such as http://localhost:8000/v1, not {given!r:.80}")
    return parts


def _without_query(url: str) -> str:
    return shown_url(url) if "://" in url else shown_url(f"http://{url}").removeprefix("http://")


def _spellings(key: str) -> list[str]:
    """The key as a server may write it, the longest first: in JSON a quote, a backslash and a slash may be escaped."""
    in_json = json.dumps(key)[1:-1]
    return sorted({key, in_json, in_json.replace("/", "\\/")}, key=len, reverse=True) if key else []


def _seconds(said: str | None) -> float | None:
    """Of Retry-After: seconds, or a date."""
    if not said:
        return None
    try:
        seconds = float(said)
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(said)
    except (TypeError, ValueError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=datetime.timezone.utc)
    return max(date.timestamp() - time.time(), 0.0)


# ---- the APIs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Api:
    """How one is asked, and where its answer is."""

    path: str
    key_name: str
    headers: Callable[[str], dict[str, str]]
    read: Callable[[Any], Reply]
    fixed: dict[str, Any]


def _openai(answer: Any) -> Reply:
    content = answer["choices"][0]["message"]["content"] or ""
    return Reply(content if isinstance(content, str) else _joined(content), answer.get("usage"))


def _anthropic(answer: Any) -> Reply:
    return Reply(_joined(answer["content"]), answer.get("usage"))


def _joined(blocks: Any) -> str:
    return "".join(block["text"] for block in blocks if block["type"] == "text")


APIS = {
    "openai": Api(
        "/chat/completions",
        "OPENAI_API_KEY",
        lambda key: {"Authorization": f"Bearer {key}"} if key else {},
        _openai,
        {},
    ),
    "anthropic": Api(
        "/v1/messages",
        "ANTHROPIC_API_KEY",
        lambda key: {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})},
        _anthropic,
        {"max_tokens": 1024},
    ),
}
