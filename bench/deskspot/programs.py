"""The screens: which programs run, with what, and what is opened in them."""

from __future__ import annotations

import html
import pathlib
import random
from collections.abc import Iterator

from pages import served
from session import SIZE, Desktop

W, H = SIZE
LICENSE = pathlib.Path("/usr/share/common-licenses/GPL-3")
CITIES = "Lisbon Porto Oslo Bergen Krakow Gdansk Turin Verona Malmo Uppsala Ghent Bruges Lyon Nantes Graz Linz"
GOODS = "lantern kettle ladder compass hammer teapot blanket basket anchor barrel candle pulley saddle mirror"
NAMES = "Amelia Bruno Clara Dmitri Elena Farid Greta Hugo Ingrid Jonas Katya Lucas Marta Nils Olga Pavel"


def text_file(folder: pathlib.Path) -> str:
    """The GNU licence as a page of headings and paragraphs."""
    parts = LICENSE.read_text().split("\n\n")[3:24]
    lines = ["<html><head><title>Licence</title></head><body>"]
    for part in parts:
        tag = "h2" if len(part) < 60 else "p"
        lines.append(f"<{tag}>{html.escape(' '.join(part.split()))}</{tag}>")
    path = folder / "licence.html"
    path.write_text("\n".join([*lines, "</body></html>"]))
    return str(path)


def sheet_file(folder: pathlib.Path, seed: int = 1) -> str:
    rng = random.Random(seed)
    rows = ["order,customer,city,item,pieces,price,status,remark"]
    for n in range(60):
        goods = f"{rng.choice(GOODS.split())} {rng.randrange(100, 999)}"
        person = f"{rng.choice(NAMES.split())} {rng.choice('ABCDEFGHKLMNPRSTVW')}."
        rows.append(f"R-{4000 + 7 * n},{person},{rng.choice(CITIES.split())},{goods},{rng.randrange(1, 90)},"
                    f"{rng.randrange(100, 99999) / 100:.2f},{rng.choice(['paid', 'open', 'sent', 'returned'])},"
                    f"shelf {rng.choice('ABCDEF')}{rng.randrange(10, 99)}")  # fmt: skip
    path = folder / "orders.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def picture_file(folder: pathlib.Path) -> str:
    path = folder / "drawing.svg"
    shapes = "".join(
        f'<rect x="{40 + 60 * n}" y="{30 + 35 * n}" width="90" height="60" fill="hsl({40 * n},60%,60%)"/>'
        for n in range(8)
    )
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="420">{shapes}</svg>')
    return str(path)


def office(desktop: Desktop, program: str, path: str, filter_: str, keys: dict[str, list[str]]) -> Iterator[str]:
    """LibreOffice over the whole screen; then with each of these key sequences."""
    process = desktop.run("soffice", "--norestore", "--nologo", f"--{program}", f"--infilter={filter_}", path)
    window = desktop.window("LibreOffice", program)
    desktop.place(window, 0, 0, W, H)
    yield program
    yield from opened(desktop, program, keys)
    desktop.end(process)


def writer(desktop: Desktop) -> Iterator[str]:
    keys = {"format": ["alt+o"], "insert": ["alt+i"], "paragraph": ["alt+o", "p"]}
    return office(desktop, "writer", text_file(desktop.folder), "HTML (StarWriter)", keys)


def calc(desktop: Desktop) -> Iterator[str]:
    keys = {"data": ["alt+d"], "cells": ["ctrl+1"]}
    return office(desktop, "calc", sheet_file(desktop.folder), "CSV:44,34,76,1", keys)


def gimp(desktop: Desktop) -> Iterator[str]:
    picture = str(desktop.folder / "fractal.png")
    desktop.ask("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "mandelbrot=size=1600x1000", "-frames:v", "1", picture)
    process = desktop.run("gimp", "-n", "-s", picture)
    window = desktop.window("fractal.*GIMP", "gimp")
    desktop.place(window, 0, 0, W, H)
    yield "gimp"
    yield from opened(desktop, "gimp", {"layer": ["alt+l"], "filters": ["alt+r"]})
    desktop.press("ctrl+n")
    yield "gimp-new"
    desktop.end(process)


def opened(desktop: Desktop, program: str, keys: dict[str, list[str]]) -> Iterator[str]:
    """With each of these key sequences, and without them again."""
    for name, pressed in keys.items():
        desktop.press(*pressed)
        yield f"{program}-{name}"
        desktop.press("Escape", "Escape")


def inkscape(desktop: Desktop) -> Iterator[str]:
    folder = desktop.folder / ".config/inkscape"
    folder.mkdir(parents=True)
    (folder / "preferences.xml").write_text(
        '<inkscape version="1"><group id="options"><group id="boot" enabled="0"/></group></inkscape>'
    )
    process = desktop.run("inkscape", picture_file(desktop.folder))
    window = desktop.window("drawing.svg", "inkscape")
    desktop.place(window, 0, 0, W, H)
    yield "inkscape"
    desktop.press("ctrl+a", "ctrl+shift+f")
    yield "inkscape-fill"
    yield from opened(desktop, "inkscape", {"path": ["alt+p"], "extensions": ["alt+n"]})
    desktop.press("ctrl+shift+p")
    yield "inkscape-preferences"
    desktop.end(process)


def terminal(desktop: Desktop) -> Iterator[str]:
    """What a listing and a log of packages leave on the screen."""
    for n, command in enumerate(("ls -l /usr/share | tail -n 60", "dpkg -l | head -n 60 | cut -c 1-150")):
        line = f"bash --norc -c '{command}; sleep 1000'"
        process = desktop.run("xfce4-terminal", "--disable-server", "--maximize", f"--command={line}")
        window = desktop.window("Terminal", "the terminal")
        desktop.place(window, 0, 0, W, H)
        yield ("terminal-files", "terminal-packages")[n]
        desktop.end(process)


def chromium(desktop: Desktop, folder: pathlib.Path) -> Iterator[str]:
    with served(folder) as addresses:
        for n, address in enumerate(addresses):
            process = desktop.run(
                "chromium", "--no-sandbox", "--no-first-run", "--force-renderer-accessibility", "--disable-gpu",
                "--test-type", f"--user-data-dir={desktop.folder}/chromium", f"--window-size={W},{H}",
                "--window-position=0,0", address,
            )  # fmt: skip
            desktop.window("MiniWoB", "chromium")
            yield f"chromium-{n + 1}"
            desktop.end(process)
