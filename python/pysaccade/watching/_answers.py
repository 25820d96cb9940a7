"""`answers`: what a model says of a source, as new things appear in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pysaccade._native._arguments import number, quoted, whole
from pysaccade.models._rules import TokenRule, rule_of
from pysaccade.stream._stream import Stream
from pysaccade.watching._gate import Gate
from pysaccade.watching._server import Server
from pysaccade.watching._watcher import Answer, Counts, Watcher

_MOST = 1e9  # of seconds, and of tokens a second
_LEAST_SIDE = 56  # of a view: pipeline/views/crops.cpp


def answers(
    source: Any,
    vlm: str,
    *,
    model: str,
    ask: str,
    api: str = "openai",
    budget: float = 2000,
    tokens: int = 1568,
    rule: Any = None,
    in_flight: int = 1,
    timeout: float = 60,
    max_tokens: int | None = None,
    rate: float = 4.0,
    counts: Counts | None = None,
    **options: Any,
) -> Iterator[Answer]:
    """Show a model what is new in a source, within a budget, and give its answers as they come.

        url, model = "http://localhost:8000/v1", "Qwen/Qwen2.5-VL-7B-Instruct"
        for answer in pysaccade.watch.answers("screen:", url, model=model, ask="Is there an error? Quote it."):
            print(answer.views.pts_seconds, answer.text)

    The first message is an overview. Later ones have what changed, in their own sizes; nothing is sent while nothing
    changes, nor what was shown in the last five seconds already (a cursor that blinks). What could not be sent, because
    the budget was spent or the server failed, is sent later as it then looks. Each message stands alone.

    Args:
        source: What `Stream` takes, or a `Stream`. A live one goes on while the model works. A file, and frames of
            yours, wait for the model.
        vlm: The server's URL. The API's path is added: "http://localhost:11434/v1".
        model: As the server calls it.
        ask: The text of each message, behind the sentence that names the boxes.
        api: "openai" (chat completions: vLLM, SGLang, llama.cpp, Ollama), its key in OPENAI_API_KEY; or "anthropic"
            (Messages), its key in ANTHROPIC_API_KEY.
        budget: Tokens of pictures a second, on average: of the clock for a live source, else of the video.
        tokens: Of the pictures of one message, at most.
        rule: How they are counted: a row of the table (docs/MODELS.md) or a `TokenRule`. None: found by `model`.
        in_flight: Requests at a time. With more than one, answers may come in another order.
        timeout: Seconds without a byte from the server after which a request has failed.
        max_tokens: Of an answer. None: as the server likes; 1024 for "anthropic".
        rate: Looks a second.
        counts: Totals are kept here.
        options: Of `Stream`.

    Raises:
        TypeError, ValueError: An argument is wrong.
        InputError: The source can't be used, or breaks later on.
        ServerError: The server refuses the key, the address or the model. Other failures are logged, and asked again.
    """
    budget = number(budget, "watch", "budget")
    tokens = whole(tokens, "watch", "tokens", 1, 1 << 30)
    in_flight = whole(in_flight, "watch", "in_flight", 1, 64)
    if not 0 < budget <= _MOST:
        raise ValueError(f"watch: budget is {budget:g} tokens a second; give more than 0, at most {_MOST:g}")
    if not 0 < number(timeout, "watch", "timeout") <= _MOST:
        raise ValueError(f"watch: timeout is {timeout:g} s; give more than 0, at most {_MOST:g}")
    counted = rule_for(model) if rule is None else rule_of(rule, "watch")
    picture = _least_tokens(counted)
    if picture > tokens:
        raise ValueError(f"watch: tokens is {tokens} a message, and one picture takes {picture}; give as many or more")
    gate = Gate(budget, tokens, in_flight, picture)
    server = Server(vlm, api, model, timeout, max_tokens)
    if isinstance(source, Stream):
        return _run(source, False, server, counted, gate, api, ask, counts)
    settings = {"array": "numpy", "lattice": "nested", "tokens": None, "fixation": "center", "rate": rate, **options}
    return _run(Stream(source, **settings), True, server, counted, gate, api, ask, counts)


def _run(
    stream: Stream, owned: bool, server: Server, rule: TokenRule, gate: Gate, form: str, ask: str, counts: Counts | None
) -> Iterator[Answer]:
    watcher = Watcher(
        stream=stream, server=server, rule=rule, gate=gate, form=form, ask=ask, live=stream.info.live,
        counts=Counts() if counts is None else counts,
    )  # fmt: skip
    try:
        yield from watcher.answers()
    finally:
        if owned:
            stream.close()


def rule_for(model: str) -> TokenRule:
    """The row of the table that a server's name of a model is of: "Qwen/Qwen2.5-VL-7B-Instruct", "gemma3:4b".

    Raises:
        ValueError: No row's name is in it.
    """
    if not isinstance(model, str):
        raise TypeError(f"watch: model takes the server's name of it, not {quoted(model)}")
    name = _plain(model)
    rows = [row for row in TokenRule.names() if _plain(row) in name]
    if not rows:
        raise ValueError(f"watch: how {quoted(model)} counts is not known; give a rule: {', '.join(TokenRule.names())}")
    return TokenRule.of(max(rows, key=len))


def _least_tokens(rule: TokenRule) -> int:
    """Of the smallest view."""
    side = -(-_LEAST_SIDE // max(rule.step_px, 1)) * rule.step_px or 1
    return rule.tokens(side, side)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())
