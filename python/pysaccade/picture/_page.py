"""`page`: a dump as one HTML file, which the program writes: `saccade reconstruct DUMP -o FILE.html`."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile
from pathlib import Path

from pysaccade._native._errors import InputError
from pysaccade._native._library import program


def write_page(dump: str | os.PathLike[str], path: str | os.PathLike[str], memory: bool = False) -> None:
    """Write the page. Raises UnavailableError without the program, InputError for what it can't read or write."""
    command = [str(program()), "reconstruct", f"--output={os.fsdecode(path)}", "--overwrite", "--log-level=error"]
    command += ["--memory"] if memory else []
    command += ["--", os.fsdecode(dump)]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if made.returncode != 0:
        raise InputError(made.stderr.decode(errors="replace").strip().removeprefix("saccade: "))


def page_frame(dump: str | os.PathLike[str], memory: bool = False) -> str:
    """The page as an element that a notebook's cell holds: it keeps to itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "seen.html")
        write_page(dump, path, memory)
        text = path.read_text(encoding="utf-8")
    style = "width: 100%; height: 640px; border: 0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(text)}"></iframe>'
