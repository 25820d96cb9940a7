"""A live gate in front of any vision-language model: it is asked when something new appears.

    python -m pysaccade.watch screen: --vlm http://localhost:8000/v1 --model Qwen/Qwen2.5-VL-7B-Instruct \
        --ask "Is there an error? Quote it." --budget 2000/s

`answers()` gives the same to Python. docs/MODELS.md has the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.watching._answers import answers
from pysaccade.watching._server import APIS, ServerError
from pysaccade.watching._watcher import Answer, Counts

__all__ = ["Answer", "Counts", "ServerError", "answers", "main"]

_DONE, _STOPPED, _USAGE, _INTERRUPTED, _INPUT, _UNAVAILABLE = 0, 1, 2, 4, 65, 69


def main(arguments: Sequence[str] | None = None) -> int:
    """Print answers as lines of JSON, and counts on standard error; gives an exit code, as docs/DUMPS.md lists them."""
    options, rest = _parser().parse_known_args(arguments)
    counts = Counts()
    code, line = _DONE, ""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for answer in answers(
            options.input, options.vlm, model=options.model, ask=options.ask, api=options.api, budget=options.budget,
            tokens=options.tokens, rule=options.rule, in_flight=options.in_flight, timeout=options.timeout,
            max_tokens=options.max_tokens, rate=options.rate, counts=counts, **_stream_options(rest),
        ):  # fmt: skip
            print(json.dumps(answer.as_dict(), ensure_ascii=False), flush=True)
    except (TypeError, ValueError) as error:
        code, line = _USAGE, str(error)
    except InputError as error:
        code, line = _INPUT, str(error)
    except UnavailableError as error:
        code, line = _UNAVAILABLE, str(error)
    except ServerError as error:
        code, line = _STOPPED, str(error)
    except KeyboardInterrupt:
        code, line = _INTERRUPTED, "interrupted"
    except BrokenPipeError:  # who reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if line:
        print(f"saccade: {line}", file=sys.stderr)
    if counts.looks:
        print(_said(counts), file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pysaccade.watch",
        allow_abbrev=False,
        description="Ask a model whenever something new appears in a video, a camera, a stream or on the screen.",
        epilog="Other options are those of the program that say how the input is read: --input-format h264.",
    )
    parser.add_argument("input", help="a file, a URL, /dev/video0, screen:")
    parser.add_argument("--vlm", required=True, metavar="URL", help="the server, such as http://localhost:8000/v1")
    parser.add_argument("--model", required=True, metavar="NAME", help="as the server calls it")
    parser.add_argument("--ask", required=True, metavar="TEXT", help="what is asked each time")
    parser.add_argument("--api", choices=sorted(APIS, reverse=True), default="openai", help="(default: openai)")
    parser.add_argument(
        "--budget", type=_rate, default=2000.0, metavar="N/s", help="tokens of pictures a second (default: 2000/s)"
    )
    parser.add_argument("--tokens", type=int, default=1568, metavar="N", help="of one message at most (default: 1568)")
    parser.add_argument("--rule", metavar="MODEL", help="the row of docs/MODELS.md that counts (default: by --model)")
    parser.add_argument("--in-flight", type=int, default=1, metavar="N", help="requests at a time (default: 1)")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="of a silent server (default: 60)")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="of an answer")
    parser.add_argument("--rate", type=float, default=4.0, metavar="N", help="looks a second (default: 4)")
    return parser


def _rate(text: str) -> float:
    try:
        return float(text.removesuffix("/s"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not tokens a second, such as 2000/s") from None


def _stream_options(rest: Sequence[str]) -> dict[str, str]:
    """`--input-format h264` and `--input-format=h264` as Stream takes them."""
    found, waiting = {}, list(rest)
    while waiting:
        name, equals, value = waiting.pop(0).partition("=")
        if not name.startswith("--") or not (equals or waiting):
            raise ValueError(f"{name} is not an option, or has no value; python -m pysaccade.watch --help lists them")
        found[name[2:].replace("-", "_")] = value if equals else waiting.pop(0)
    return found


def _said(counts: Counts) -> str:
    rate = counts.tokens / counts.seconds if counts.seconds > 0 else 0.0
    return (
        f"saccade: {counts.looks} looks, {counts.requests} requests, {counts.answers} answered, "
        f"{counts.failures} failed; {counts.tokens} tokens of pictures, {rate:.0f} a second; "
        f"{counts.repeats} views left out, shown a moment before"
    )


if __name__ == "__main__":
    sys.exit(main())
