"""`python -m pysaccade.mcp [INPUT]`: an eye for an agent, over standard input and output."""

from __future__ import annotations

import argparse
import sys

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.models._rules import TokenRule


def main() -> int:
    """Serve until the client ends. Returns the program's exit code: 2, 65 or 69 if it can't begin."""
    parser = argparse.ArgumentParser(prog="python -m pysaccade.mcp", description=__doc__)
    parser.add_argument(
        "input", nargs="?", default="screen:", help="what is looked at: screen:, a file, a camera, a URL"
    )
    parser.add_argument("--model", default="claude", choices=TokenRule.names(), help="whose tokens and sizes count")
    parser.add_argument("--budget", type=int, default=1568, help="tokens of a look (default: 1568)")
    arguments = parser.parse_args()
    try:
        from pysaccade.mcp._eye import Eye
        from pysaccade.mcp._server import make_server
    except ModuleNotFoundError as error:
        print(f"pysaccade.mcp: {error}; install it: pip install 'pysaccade[mcp]'", file=sys.stderr)
        return 69
    try:
        eye = Eye(arguments.input, arguments.model)
    except (InputError, UnavailableError, TypeError, ValueError) as error:
        print(f"pysaccade.mcp: {error}", file=sys.stderr)
        return 65 if isinstance(error, InputError) else 69 if isinstance(error, UnavailableError) else 2
    print(f"pysaccade.mcp: looks at {eye.what}", file=sys.stderr)
    try:
        make_server(eye, arguments.budget).run("stdio")
    finally:
        eye.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
