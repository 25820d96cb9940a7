"""The server of pysaccade.mcp, asked by the official client over standard input and output. Truth: ffmpeg's x11grab."""

from __future__ import annotations

import asyncio
import base64
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import import_or_skip, skip_or_fail

mcp = import_or_skip("mcp")
WIDTH, HEIGHT = 640, 400
Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def display() -> Iterator[str]:
    """An X server without a monitor."""
    if shutil.which("Xvfb") is None:
        skip_or_fail("gl", "Xvfb is not installed")
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield f":{server.stdout.readline().strip()}"
        server.terminate()


@pytest.fixture
def window(display: str) -> Iterator[Any]:
    """One that covers the screen."""
    from x11_window import Window

    window = Window(display, (0, 0, WIDTH, HEIGHT), color=0x808080)
    yield window
    window.close()


def asked(questions: Callable[[Ask], Awaitable[None]], source: str, *arguments: str, refused: bool = False) -> None:
    """Have a server of `source` answer what `questions` asks by ask(tool, **arguments)."""
    environment = {name: value for name, value in os.environ.items() if name.startswith(("SACCADE", "PYTHON", "PATH"))}
    command = ["-m", "pysaccade.mcp", source, *arguments]

    async def serve() -> None:
        server = mcp.StdioServerParameters(command=sys.executable, args=command, env=environment)
        async with mcp.Client(server) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.annotations.read_only_hint for tool in tools)

            async def ask(tool: str, **values: Any) -> Any:
                result = await client.call_tool(tool, values)
                assert result.is_error is refused, result.content
                return result

            await questions(ask)

    asyncio.run(serve())


def pictures(result: Any) -> list[np.ndarray]:
    """The images of an answer, [h, w, 3] each, decoded by Pillow."""
    import io

    image = import_or_skip("PIL.Image")
    parts = [part for part in result.content if part.type == "image"]
    return [np.asarray(image.open(io.BytesIO(base64.b64decode(part.data))).convert("RGB")) for part in parts]


def grab(display: str) -> np.ndarray:
    """[H, W, 3] u8 of the screen, without the pointer."""
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-nostdin",
        "-f",
        "x11grab",
        "-draw_mouse",
        "0",
        "-video_size",
        f"{WIDTH}x{HEIGHT}",
    ]
    command += ["-i", display, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(HEIGHT, WIDTH, 3)


def scatter(window: Any, count: int, rng: random.Random) -> None:
    for _ in range(count):
        x, y = rng.randrange(WIDTH), rng.randrange(HEIGHT)
        window.fill((x, y, rng.randrange(1, 60), rng.randrange(1, 40)), rng.getrandbits(24))


def test_zoom_shows_the_pixels_of_its_box(display: str, window: Any) -> None:
    rng = random.Random(11)
    scatter(window, 200, rng)
    screen = grab(display)

    async def questions(ask: Ask) -> None:
        for _ in range(25):
            x, y = rng.randrange(-40, WIDTH), rng.randrange(-40, HEIGHT)
            box = [x, y, x + rng.randrange(41, 200), y + rng.randrange(41, 200)]
            result = await ask("zoom", box=box)
            left, top, right, bottom = result.structured_content["box"]
            assert [left, top] == [max(x, 0), max(y, 0)]
            assert [right, bottom] == [min(box[2], WIDTH), min(box[3], HEIGHT)]
            np.testing.assert_array_equal(pictures(result)[0], screen[top:bottom, left:right])

    asked(questions, f"screen:{display}?pointer=no")


def test_look_shows_all_and_then_what_is_new_where_it_says(display: str, window: Any) -> None:
    scatter(window, 60, random.Random(2))

    def check(result: Any) -> None:
        screen = grab(display).astype(float)
        for view, image in zip(result.structured_content["images"], pictures(result), strict=True):
            step = round(1 / view["scale"])
            left, top, right, bottom = view["box"]
            assert [right - left, bottom - top] == [side * step for side in view["size"]]
            part = screen[top:bottom, left:right]
            rows, cols = part.shape[0] // step, part.shape[1] // step
            means = part[: rows * step, : cols * step].reshape(rows, step, cols, step, 3).mean(axis=(1, 3))
            assert np.abs(image[:rows, :cols] - means).max() <= 0.51  # rounded once

    async def questions(ask: Ask) -> None:
        first = await ask("look", budget=200)
        assert first.structured_content["images"][0]["reason"] == "overview"
        assert first.structured_content["tokens"] <= 200
        check(first)
        while (await ask("look", budget=1568)).structured_content["images"]:
            pass
        window.fill((300, 200, 6, 13), 0xFF00FF)
        later = await ask("look", budget=200)
        check(later)
        new = [view["box"] for view in later.structured_content["images"] if view["reason"] == "new"]
        assert any(box[0] <= 300 and box[1] <= 200 and box[2] >= 306 and box[3] >= 213 for box in new)
        again = await ask("look", budget=200, everything=True)
        assert again.structured_content["images"][0]["reason"] == "overview"

    asked(questions, f"screen:{display}?pointer=no")


def test_changes_are_named_to_the_pixel(display: str, window: Any) -> None:
    async def questions(ask: Ask) -> None:
        mark = (await ask("look")).structured_content["mark"]
        same = await ask("changed_since", mark=mark)
        assert same.structured_content == {"boxes": [], "mark": mark}
        window.fill((101, 51, 6, 13), 0)
        window.fill((400, 300, 1, 1), 0)
        result = await ask("changed_since", mark=mark)
        assert result.structured_content["boxes"] == [[101, 51, 107, 64], [400, 300, 401, 301]]
        waiting = asyncio.create_task(ask("wait_for_change", region=[200, 200, 300, 260], seconds=60))
        await asyncio.sleep(0.5)
        window.fill((199, 199, 1, 1), 0xFFFFFF)  # just outside
        await asyncio.sleep(0.5)
        assert not waiting.done()
        window.fill((190, 250, 20, 40), 0xFFFFFF)
        assert (await waiting).structured_content["boxes"] == [[200, 250, 210, 260]]
        over = await ask("wait_for_change", seconds=0.3)
        assert over.structured_content["changed"] is False

    asked(questions, f"screen:{display}?pointer=no")


Lines = dict[str, tuple[int, int]]  # a text and its place


def page_of(lines: Lines) -> tuple[Any, dict[str, Any]]:
    """A page with lines of text, and the box of each."""
    image, draw, font = (import_or_skip(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont"))
    if shutil.which("tesseract") is None:
        skip_or_fail("tesseract", "tesseract is not installed")
    page, typeface = image.new("RGB", (WIDTH, HEIGHT), "white"), font.load_default(size=18)
    pen = draw.Draw(page)
    for text, at in lines.items():
        pen.text(at, text, "black", typeface)
    return page, {text: pen.textbbox(at, text, typeface) for text, at in lines.items()}


def test_find_names_the_box_of_a_text(tmp_path: Path) -> None:
    page, boxes = page_of({"Save the file": (60, 50), "Cancel": (320, 210), "Save as": (60, 300)})
    page.save(tmp_path / "page.png")

    async def questions(ask: Ask) -> None:
        cancel = (await ask("find", text="cancel")).structured_content["matches"]
        assert [match["text"] for match in cancel] == ["Cancel"]
        assert np.abs(np.subtract(cancel[0]["box"], boxes["Cancel"])).max() <= 3
        assert len((await ask("find", text="save")).structured_content["matches"]) == 2
        whole = (await ask("find", text="save the file")).structured_content["matches"]
        assert np.abs(np.subtract(whole[0]["box"], boxes["Save the file"])).max() <= 3
        assert (await ask("find", text="Delete")).structured_content["matches"] == []

    asked(questions, str(tmp_path / "page.png"))


def test_find_reads_whole_lines_after_a_part_of_them_changed(tmp_path: Path) -> None:
    above, below = {"These words stay as they are, line one": (60, 75)}, {"and so does line three": (60, 125)}
    readings: list[Lines] = [
        {**above, "Move the quick brown fox over the lazy dog": (60, 100), **below},
        {**above, "Move the quick brown cat over the lazy dog": (60, 100), **below},  # far from both ends
        {
            **above,
            "Give the quick brown cat over to the lazy man": (60, 100),
            **below,
        },  # the start, the end, and between
        {**above, "Give the quick": (60, 100), **below},
        {**above, "Give the quick answer": (60, 100), **below, "Submit": (400, 300)},
        {"Submit": (430, 300)},  # over a part of where it was
        {},
    ]
    pages = [page_of(lines) for lines in readings]
    clip = tmp_path / "pages.mkv"
    command = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", f"{WIDTH}x{HEIGHT}"]
    command += ["-framerate", "1", "-i", "-", "-c:v", "png", str(clip)]
    subprocess.run(command, input=b"".join(page.tobytes() for page, _ in pages), check=True)

    async def questions(ask: Ask) -> None:
        for _, boxes in pages:
            await ask("look")  # the next frame
            lines = (await ask("find", text="")).structured_content["matches"]
            assert [line["text"] for line in lines] == list(boxes)
            for line in lines:
                assert np.abs(np.subtract(line["box"], boxes[line["text"]])).max() <= 3
                assert (await ask("find", text=line["text"])).structured_content["matches"] == [line]

    asked(questions, str(clip))


def test_refusals_say_what_to_do(clip: Path) -> None:
    async def questions(ask: Ask) -> None:
        for tool, values, words in (
            ("zoom", {"box": [-9, 0, 0, 9]}, "holds no pixel of the picture"),
            ("zoom", {"box": [1, 2]}, "at least 4 items"),
            ("changed_since", {"mark": 9}, "mark 9 is not kept"),
        ):
            assert words in (await ask(tool, **values)).content[0].text

    asked(questions, str(clip), refused=True)


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [("nothing.mp4", 65, "nothing.mp4"), ("screen::4711", 69, "no X server answers"), ("test://box", 2, "no RGB")],
)
def test_an_input_that_cannot_be_opened(source: str, code: int, words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "pysaccade.mcp", source], capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stderr, done.stdout) == (code, True, "")


def test_the_first_line_says_what_is_looked_at(display: str) -> None:
    command = [sys.executable, "-m", "pysaccade.mcp", f"screen:{display}?region=8,16,64,48"]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    first = done.stderr.splitlines()[0]
    assert "captures a region of 64x48 at 8,16, with the pointer" in first
    assert "keys" not in first


def test_emissions_of_a_screen_have_the_place_of_its_pointer(display: str) -> None:
    subprocess.run(["xdotool", "mousemove", "20", "30"], env={**os.environ, "DISPLAY": display}, check=True)
    with sc.Stream(f"screen:{display}?region=16,16,64,32&pointer=no", every="frame", tokens=8) as stream:
        assert next(stream).pointer == (4.5 / 64, 14.5 / 32)
    with sc.Stream(f"screen:{display}?region=32,32,64,32", every="frame", tokens=8) as stream:
        assert next(stream).pointer is None
