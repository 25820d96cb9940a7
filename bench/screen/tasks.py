"""Tasks of MiniWoB, solved by a script that sees the screen by the tools of the MCP server alone.

    pip download --no-deps miniwob && unzip miniwob-*.whl -d out/miniwob
    PYTHONPATH=out/miniwob python bench/screen/tasks.py

Chromium shows one task at a time. The script reads it by `find` (by rapidocr if installed, else by Tesseract), and
clicks and types by xdotool. The page tells the reward to the server of the pages, which the script does not see. Prints
a line for each task, and how many were solved.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import functools
import http.server
import importlib.util
import itertools
import json
import queue
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import numpy as np
from asking import Tools, server
from desktop import Desktop

SCALE = 2  # of the page
QUERY = 50 * SCALE  # the task is written above this row
TASKS = (
    "click-test", "click-test-2", "click-test-transfer", "click-button", "click-button-sequence", "click-link",
    "click-tab", "click-dialog-2", "click-option", "click-checkboxes", "click-checkboxes-transfer",
    "click-checkboxes-large", "click-collapsible", "click-collapsible-nodelay", "enter-text", "enter-text-2",
    "enter-text-dynamic", "enter-password", "login-user", "login-user-popup", "find-word", "navigate-tree",
    "unicode-test", "multi-layouts",
)  # fmt: skip
BEGIN = """<style>#reward-display {{ display: none !important }}</style><script>addEventListener("load", () => {{
  Math.seedrandom("{seed}"); core.EPISODE_MAX_TIME = 1e8; core.startEpisodeReal();
  const watch = setInterval(() => {{
    if (WOB_DONE_GLOBAL) {{ clearInterval(watch); fetch("/reward?value=" + WOB_RAW_REWARD_GLOBAL); }}
  }}, 50);
}});</script>"""
Box = list[int]


class Pages:
    """Serves the tasks, and hears the rewards."""

    def __init__(self, html: Path, seed: int) -> None:
        rewards: queue.Queue[float] = queue.Queue()
        self.rewards = rewards

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlparse(self.path)
                if url.path == "/reward":
                    rewards.put(float(parse_qs(url.query)["value"][0]))
                    self.send_error(204)
                elif url.path.endswith(".html"):
                    page = (html / url.path.lstrip("/")).read_text() + BEGIN.format(seed=seed)
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.end_headers()
                    self.wfile.write(page.encode())
                else:
                    super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(html)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reward(self, seconds: float) -> float | None:
        try:
            return self.rewards.get(timeout=seconds)
        except queue.Empty:
            return None


class Solver:
    def __init__(self, tools: Tools, desktop: Desktop) -> None:
        self.tools, self.desktop = tools, desktop

    async def lines(self) -> list[tuple[str, Box]]:
        facts, _ = await self.tools.ask("find", text="")
        return [(match["text"], match["box"]) for match in facts["matches"]]

    async def task(self) -> str:
        return " ".join(text for text, box in await self.lines() if box[1] < QUERY)

    async def where(self, text: str) -> Box:
        """The box of a text below the task: of the line that is as short as possible."""
        facts, _ = await self.tools.ask("find", text=text)
        found = [match for match in facts["matches"] if match["box"][1] >= QUERY]
        if found:
            return min(found, key=lambda match: abs(len(match["text"]) - len(text)))["box"]
        lines = dict(line for line in await self.lines() if line[1][1] >= QUERY)
        close = difflib.get_close_matches(text, lines, n=1, cutoff=0.5)  # a letter was misread
        if not close:
            raise LookupError(f"'{text}' is not read on the page")
        return lines[close[0]]

    async def click(self, box: Box) -> None:
        x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
        self.desktop.do("mousemove", x, y, "click", 1)
        await self.settle()

    async def settle(self) -> None:
        """Wait until what was done has its effect and moves no more; a caret blinks for ever."""
        for _ in range(8):
            if not (await self.tools.ask("wait_for_change", seconds=1))[0]["changed"]:
                break

    async def click_text(self, *texts: str) -> None:
        for text in texts:
            await self.click(await self.where(text))

    async def fields(self) -> list[Box]:
        """Text fields, from the top: frames of grey lines that are longer than a button's."""
        width, height = self.desktop.size
        _, (image,) = await self.tools.ask("zoom", box=[0, QUERY, width, height])
        grey = (np.ptp(image, axis=2) < 12) & (abs(image.mean(axis=2) - 118) < 25)
        rows = np.flatnonzero(grey.sum(axis=1) > 85 * SCALE)
        begins = [int(row) for row in rows if row - 1 not in rows]
        found = []
        for top, bottom in itertools.pairwise(begins):
            if 12 * SCALE < bottom - top < 30 * SCALE:
                across = np.flatnonzero(grey[top])
                left, right = int(across[0]), int(across[-1])
                side = grey[top + 5 : bottom - 5, max(left - 5, 0) : left + 5]
                if side.any(axis=1).mean() > 0.9:  # otherwise it is the ground between two fields
                    found.append([left, top + QUERY, right, bottom + QUERY])
        if not found:
            raise LookupError("no text field is seen")
        return found

    async def last(self) -> Box:
        """The lowest line: the button that ends a form."""
        return (await self.lines())[-1][1]

    async def field_of(self, label: str) -> Box:
        """The text field that is nearest to a label, from corner to corner."""
        left, top, _, _ = await self.where(label)
        return min(await self.fields(), key=lambda box: abs(box[0] - left) / 4 + abs(box[1] - top))

    async def type_at(self, box: Box, text: str) -> None:
        await self.click(box)
        if any("exit to" in line.lower() for line, _ in await self.lines()):
            await self.click_text("cancel")
            await self.click(box)
        self.desktop.do("type", "--delay", 20, text)
        await self.settle()

    async def solve(self) -> str:
        """Do what the task says. Returns it."""
        task = await self.task()
        task = re.sub(r"([\"“”]) (?=[\"“”])", r"\1", task)  # a quotation mark that is read twice
        quoted = [text.strip(" .\"“”'") for text in re.findall(r"[\"“”]+([^\"“”]+)[\"“”]", task)]
        low = task.lower()
        if "username" in low and len(quoted) >= 2:
            for box, text in zip(await self.fields(), quoted, strict=False):
                await self.type_at(box, text)
            await self.click(await self.last())
        elif found := re.search(r"search for (\w+) movies directed by (\w+) from year (\d+)", low):
            for label, text in zip(("genre", "director", "year"), found.groups(), strict=True):
                await self.type_at(await self.field_of(label), text)
            await self.click(await self.last())
        elif "both text fields" in low:
            for box in await self.fields():
                await self.type_at(box, quoted[0])
            await self.click_text("submit")
        elif found := re.search(r"find the (\d+)\w* word", low):
            page = [text for text, box in await self.lines() if box[1] >= QUERY and "submit" not in text.lower()]
            word = " ".join(page).split()[int(found[1]) - 1].strip(".,")
            await self.type_at((await self.fields())[0], word)
            await self.click_text("submit")
        elif "text field" in low or "textbox" in low or "text input" in low:
            text = quoted[0].upper() if "upper case" in low else quoted[0].lower() if "lower case" in low else quoted[0]
            await self.type_at((await self.fields())[0], text)
            await self.click_text("submit")
        elif found := re.search(r"select (.+) and click submit", low):
            for text in () if found[1].startswith("nothing") else re.split(r", ?", found[1]):
                await self.click_text(text.strip())
            await self.click_text("submit")
        elif "expand the section" in low:
            await self.click_text("section")
            await self.click_text("submit")
        elif found := re.search(r"button (\w+), then click button (\w+)", low):
            await self.click_text(found[1], found[2])
        elif found := re.search(r"(?:click button|switch to|click on) (tab #\d|\w+)\.?$", low):
            await self.click_text(found[1])
        elif quoted:
            await self.click_text(quoted[0])
        else:
            await self.click_text("click")
        return task


async def run(desktop: Desktop, pages: Pages, tasks: list[str]) -> int:
    solved = 0
    address = f"http://127.0.0.1:{pages.server.server_port}/miniwob"
    with tempfile.TemporaryDirectory() as folder:
        async with server(f"screen:{desktop.display}?pointer=no") as tools:
            for name in tasks:
                width, height = desktop.size
                browser = desktop.run(
                    "chromium", "--kiosk", "--no-sandbox", "--no-first-run", "--disable-gpu", "--test-type",
                    f"--user-data-dir={folder}/{name}", f"--force-device-scale-factor={SCALE}",
                    f"--window-size={width // SCALE},{height // SCALE}", "--window-position=0,0",
                    f"{address}/{name}.html",
                )  # fmt: skip
                outcome: dict[str, Any] = {"task": name}
                calls = tools.calls
                try:
                    while (await tools.ask("wait_for_change", seconds=4))[0]["changed"]:
                        pass
                    end = time.monotonic() + 60
                    while not await Solver(tools, desktop).task() and time.monotonic() < end:
                        await tools.ask("wait_for_change", seconds=5)
                    outcome["read"] = await Solver(tools, desktop).solve()
                except (LookupError, RuntimeError) as error:
                    outcome["fault"] = str(error)
                    outcome["lines"] = await Solver(tools, desktop).lines()
                outcome["reward"] = pages.reward(5)
                outcome["calls"] = tools.calls - calls
                solved += outcome["reward"] == 1
                print(json.dumps(outcome), flush=True)
                desktop.end(browser)
    return solved


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    found = importlib.util.find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        parser.exit(1, "tasks: its pages are missing: see --help\n")
    pages = Pages(Path(next(iter(found.submodule_search_locations))) / "html", arguments.seed)
    with Desktop(400, 480) as desktop:
        desktop.run("openbox")
        solved = asyncio.run(run(desktop, pages, list(arguments.tasks)))
    print(json.dumps({"solved": solved, "tasks": len(arguments.tasks)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
