"""The gate in front of a model: what reaches servers of both protocols, and what happens when they fail."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appearing import glyphs, ground, holds, onsets
from conftest import ROOT
from model_server import Fault, Picture, Request, model_server
from pysaccade import watch

MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"


def reached(requests: list[Request], count: int) -> list[int]:
    """The lines that were sent at full size."""
    pictures = [picture for request in requests for picture in request.pictures]
    return [line for line in range(count) if holds(pictures, glyphs(line))]


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_each_line_that_appears_reaches_the_model(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-two")
    counts = watch.Counts()
    with model_server() as server:
        found = list(
            watch.answers(onsets(8), server.url + "/v1", model=MODEL, ask="What is new?", api=api, counts=counts)
        )
    assert reached(server.requests, 8) == list(range(8))
    assert [answer.text for answer in found] == [f"answer {n}" for n in range(9)]
    assert [answer.views.pts_seconds for answer in found] == list(range(9))
    assert [view.reason for view in found[0].views] == ["overview"]
    assert all(answer.views.tokens <= 30 for answer in found[1:])  # 8 x 2 units of 28 px hold a line
    assert (counts.requests, counts.answers, counts.failures) == (9, 9, 0)
    assert counts.tokens == sum(answer.views.tokens for answer in found)
    first = server.requests[0]
    assert first.body["model"] == MODEL
    assert first.text.endswith(" What is new?")
    assert found[0].views.caption in first.text
    if api == "openai":
        assert first.path == "/v1/chat/completions"
        assert first.headers["authorization"] == "Bearer sk-one"
        assert found[0].usage == {"prompt_tokens": 7}
    else:
        assert first.path == "/v1/messages"
        assert first.headers["x-api-key"] == "sk-two"
        assert first.headers["anthropic-version"] == "2023-06-01"
        assert first.body["max_tokens"] == 1024


def test_the_budget_holds_and_loses_nothing() -> None:
    """At 10 tokens a second lines come faster than they may be sent. The file's time goes on behind its end."""
    counts = watch.Counts()
    with model_server() as server:
        found = list(
            watch.answers(onsets(30, every=1), server.url, model=MODEL, ask="?", budget=10, tokens=150, counts=counts)
        )
    assert reached(server.requests, 30) == list(range(30))
    assert counts.tokens <= 150 + 10 * counts.seconds
    assert all(answer.views.tokens <= 150 for answer in found)
    assert len(found) < 25  # several lines a message


def test_a_picture_that_takes_more_than_half_a_message_waits_for_the_budget() -> None:
    """What appears at the end of a file, while the bucket holds less than Gemma's one size of a picture."""

    def frames() -> Iterator[tuple[Picture, float]]:
        for number in range(8):
            frame = ground()
            if number == 7:
                frame[200:212, 300:390] = glyphs(0)
            yield frame, number / 4

    with model_server() as server:
        found = list(watch.answers(frames(), server.url, model="gemma3:4b", ask="?", budget=70, tokens=256))
    assert [answer.views.frame for answer in found] == [0, 7]
    assert reached(server.requests, 1) == [0]


def test_a_server_of_another_api_ends_it() -> None:
    """The third answer that is not one of the API, if there was none before."""
    refused = Fault(200, body="<html>Welcome</html>")
    faults = {0: Fault(503, {"Retry-After": "0.01"}), 1: Fault(503, {"Retry-After": "0.01"})}
    with (
        model_server(lambda number, _: faults.get(number, refused)) as server,
        pytest.raises(watch.ServerError, match="not one of this API: '<html>Welcome</html>'; check the URL"),
    ):
        list(watch.answers(onsets(2), server.url, model=MODEL, ask="?"))
    assert len(server.requests) == 5


def test_an_answer_may_be_a_list_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As servers give it whose models think. A key that it repeats as JSON escapes it is replaced too."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a/b")
    blocks = r'[{"type": "thinking", "thinking": []}, {"type": "text", "text": "a key is sk-a\/b"}]'
    body = '{"choices": [{"message": {"content": ' + blocks + "}}]}"
    with model_server(lambda *_: Fault(200, body=body)) as server:
        found = list(watch.answers(onsets(1), server.url, model=MODEL, ask="?"))
    assert [answer.text for answer in found] == ["a key is ***"] * 2


def test_a_server_that_fails_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    faults: dict[int, Fault] = {
        0: Fault(429, {"Retry-After": "0.01"}),
        2: Fault(503),
        3: Fault(0, breaks=True),
        4: Fault(200, {}, "<html>"),
        6: Fault(500),
    }
    with model_server(lambda number, _: faults.get(number, "yes")) as server, caplog.at_level(logging.WARNING):
        found = list(watch.answers(onsets(3), server.url, model=MODEL, ask="?"))
    answered = [request for number, request in enumerate(server.requests) if number not in faults]
    assert len(found) == len(answered)
    assert found[0].views[0].reason == "overview"
    assert reached(answered, 3) == [0, 1, 2]
    assert "429 Too Many Requests" in caplog.messages[0]
    assert len(caplog.messages) == 3  # one for each time that it begins to fail


def test_what_a_server_refuses_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with model_server(lambda number, _: Fault(400, body="too lewd") if number == 2 else "yes") as server:
        found = list(watch.answers(onsets(3), server.url, model=MODEL, ask="?"))
        assert [answer.number for answer in found] == [0, 1, 3]
        assert reached(server.requests, 3) == [0, 1, 2]
        assert "400 Bad Request: too lewd; frame 8 is left out" in caplog.text
    refusing = model_server(lambda *_: Fault(400, body="no pictures"))
    with refusing as server, pytest.raises(watch.ServerError, match="400 Bad Request: no pictures"):
        list(watch.answers(onsets(5), server.url, model=MODEL, ask="?"))
    assert len(server.requests) == 3


def test_answers_that_come_in_another_order_keep_their_views() -> None:
    last = threading.Event()

    def answer(_: int, request: Request) -> str:
        line = max((line for line in range(3) if holds(request.pictures, glyphs(line))), default=-1)
        if line == 0:
            last.wait(60)
        elif line == 2:  # of two in flight one was answered, so it was line 1
            last.set()
        return str(line)

    with model_server(answer) as server:
        found = list(watch.answers(onsets(3), server.url, model=MODEL, ask="?", in_flight=2))
    texts = [answer.text for answer in found]
    assert sorted(texts) == ["-1", "0", "1", "2"]
    assert texts.index("1") < texts.index("0")
    for answered in found[1:]:
        assert holds([view.image for view in answered.views], glyphs(int(answered.text)))
    assert sorted(answered.number for answered in found) == [0, 1, 2, 3]


def test_a_cursor_that_blinks_is_shown_twice() -> None:
    def frames() -> Iterator[tuple[Picture, float]]:
        for number in range(80):
            frame = ground()
            if number // 2 % 2:
                frame[200:216, 300:302] = 0
            yield frame, number / 4

    counts = watch.Counts()
    with model_server() as server:
        found = list(watch.answers(frames(), server.url, model=MODEL, ask="?", counts=counts))
    assert len(found) == 3  # the overview, the cursor, and what is behind it
    assert counts.repeats >= 30


@pytest.mark.parametrize(("code", "said"), [(401, "401 Unauthorized"), (404, "404 Not Found"), (302, "302 Found")])
def test_a_server_that_refuses_ends_it_without_the_key(
    code: int, said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-very-secret"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    fault = Fault(code, {"Location": "http://127.0.0.1:9/"}, f'{{"error": "the key {key} is wrong"}}')
    with model_server(lambda *_: fault) as server, pytest.raises(watch.ServerError, match=said) as error:
        list(watch.answers(onsets(1), server.url + "?token=abc", model=MODEL, ask="?"))
    assert len(server.requests) == 1
    assert key not in str(error.value) + caplog.text
    assert "abc" not in str(error.value)
    assert "the key *** is wrong" in str(error.value)


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(match: str, kind: type[Exception] = ValueError, **changed: Any) -> None:
        given: dict[str, Any] = {"vlm": "http://127.0.0.1:9", "model": MODEL, "ask": "?", **changed}
        with pytest.raises(kind, match=match):
            list(watch.answers(onsets(1), **given))

    fails("URL such as http", vlm="localhost:8000")
    fails("URL such as http.*, not 'ftp://127.0.0.1'", vlm="ftp://127.0.0.1")
    fails("URL such as http", vlm="http://127.0.0.1:99999")
    fails("URL such as http", vlm="http://[::1/v1")
    fails("URL such as http.*, not 'http://local host/v1'", vlm="http://local host/v1?key=a")
    fails("URL such as http.*, not 'localhost/v1'", vlm="localhost/v1?key=a")
    fails("URL such as http", vlm=None)
    fails("URL has a user; put the key into OPENAI_API_KEY", vlm="http://user:pass@127.0.0.1:9")
    fails("api is openai or anthropic, not 'gemini'", api="gemini")
    fails("how 'mine' counts is not known; give a rule: qwen2-vl", model="mine")
    fails("no model 'gpt'", rule="gpt")
    fails("more than 0", budget=0)
    fails("more than 0", budget=float("inf"))
    fails("more than 0", timeout=float("inf"))
    fails("max_tokens is 0", max_tokens=0)
    fails("tokens is 1568 a message, and one picture takes 8500", rule="gpt-4o-mini")
    fails("in_flight is 0", in_flight=0)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a\nb")
    fails("OPENAI_API_KEY has characters")


@pytest.mark.parametrize(("key", "advice"), [("", "set OPENAI_API_KEY"), ("sk-old", "check OPENAI_API_KEY")])
def test_a_refused_key_is_named(key: str, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    refusing = model_server(lambda *_: Fault(401))
    with refusing as server, pytest.raises(watch.ServerError, match=f"401 Unauthorized; {advice}"):
        list(watch.answers(onsets(1), server.url, model=MODEL, ask="?"))


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2.5-vl"),
        ("qwen2.5vl:7b", "qwen2.5-vl"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("claude-sonnet-4-5", "claude"),
        ("gemma3:4b", "gemma-3"),
        ("OpenGVLab/InternVL3-8B", "internvl"),
    ],
)
def test_a_servers_name_finds_its_rule(model: str, row: str) -> None:
    from pysaccade.watching._answers import rule_for

    assert rule_for(model).name == row


def program(*arguments: str, key: str = "sk-very-secret") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENAI_API_KEY": key}
    command = [sys.executable, "-m", "pysaccade.watch", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


def test_the_program_prints_lines_of_json(tmp_path: Path) -> None:
    clip = str(ROOT / "assets/desktop.mp4")
    with model_server(lambda number, _: f"Größe {number}") as server:
        done = program(
            clip, "--vlm", server.url, "--model", MODEL, "--ask", "What is new?", "--budget", "800/s", "--duration", "3"
        )
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(lines) == len(server.requests) > 1
        assert lines[0]["answer"] == "Größe 0"
        assert lines[0]["views"][0]["reason"] == "overview"
        assert [line["pts_ns"] for line in lines] == sorted(line["pts_ns"] for line in lines)
        assert f"{len(lines)} requests, {len(lines)} answered, 0 failed" in done.stderr
        missing = program(str(tmp_path / "none.mp4"), "--vlm", server.url, "--model", MODEL, "--ask", "?")
        assert missing.returncode == 65
        assert len(missing.stderr.splitlines()) == 1
        wrong = program(clip, "--vlm", server.url, "--model", MODEL, "--ask", "?", "--lattise", "grid")
        assert wrong.returncode == 2
        assert "lattise" in wrong.stderr
    with model_server(lambda *_: Fault(401, body="sk-very-secret is wrong")) as server:
        refused = program(clip, "--vlm", server.url, "--model", MODEL, "--ask", "?")
    assert refused.returncode == 1
    assert "401 Unauthorized: *** is wrong" in refused.stderr
    assert "sk-very-secret" not in refused.stdout + refused.stderr
