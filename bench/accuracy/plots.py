"""Plots of what is in DIR/rows.jsonl: accuracy against tokens, with 95 % intervals."""

from __future__ import annotations

import pathlib
from collections import defaultdict
from typing import Any

from desk import DESK
from rows import read_rows
from stats import interval

STYLES = {
    "nested": ("#c0392b", "o-"),
    "saliency": ("#e67e22", "s--"),
    "uniform": ("#2980b9", "o-"),
    "grid": ("#16a085", "s-"),
    "random": ("#8e44ad", "x:"),
    "center": ("#2c3e50", "+:"),
    "oracle": ("#27ae60", "*-"),
    "rings": ("#d35400", "D"),
    "change": ("#f1c40f", "v-"),
    "full": ("black", "-"),
    "adaptive": ("#c0392b", "o-"),
    "changed": ("#16a085", "s-"),
    "crops": ("#8e44ad", "D-"),
    "quadtree": ("#f39c12", "v-"),
}
FOVEA_BESIDE_ADAPTIVE = ("#7f8c8d", "o-")
MEASURES = {
    "reading": ("scores", "characters right"),
    "looking": ("scores", "words seen whole"),
    "finding": ("scores", "found in a second"),
    "fidelity": ("scores", "PSNR within 64 px of the fixation, dB"),
}


def curves(rows: list[dict[str, Any]], across: str) -> dict[str, list[tuple[float, float, float, float]]]:
    """Of each sampler: (tokens, mean, low, high), by rising tokens."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["sampler"], row["budget"]].append(row)
    lines: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for (sampler, _), some in groups.items():
        tokens = sum(row[across] for row in some) / len(some)
        lines[sampler].append((tokens, *interval([row[MEASURES[row["task"]][0]] for row in some])))
    return {sampler: sorted(points) for sampler, points in lines.items()}


def labels(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Of each sampler its name and how many scenes (fidelity: clips) its points stand for."""
    thing = "clip" if rows[0]["task"] == "fidelity" else "scene"
    points: dict[str, dict[int, set[tuple[str, int]]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        points[row["sampler"]][row["budget"]].add((row["kind"], row["seed"]))
    shown = {}
    for sampler, budgets in points.items():
        counts = sorted({len(scenes) for scenes in budgets.values()})
        number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        shown[sampler] = f"{sampler}, {number} {thing}{'' if counts[-1] == 1 else 's'}"
    return shown


def draw_one(rows: list[dict[str, Any]], title: str, path: pathlib.Path) -> None:
    """Two panels: against tokens of a fixation, and against those of a second that are to be encoded."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    plt.switch_backend("Agg")
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    names = labels(rows)
    for panel, across, label in zip(
        panels,
        ("tokens", "tokens_s"),
        ("tokens inside the frame, a fixation", "tokens to encode, a second"),
        strict=True,
    ):
        for sampler, points in sorted(curves(rows, across).items()):
            color, style = STYLES.get(sampler, ("#95a5a6", "."))
            x, mean, low, high = zip(*points, strict=True)
            errors = [[m - v for m, v in zip(mean, low, strict=True)], [v - m for m, v in zip(mean, high, strict=True)]]
            shape = style if len(x) > 1 else "o"
            panel.errorbar(x, mean, yerr=errors, color=color, fmt=shape, capsize=3, label=names[sampler], ms=5)
            if sampler == "full":
                panel.axhline(mean[0], color="black", lw=0.8, ls=":")
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_xlabel(label)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel(MEASURES[rows[0]["task"]][1])
    panels[0].legend(fontsize=7)
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def of_all(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of the scenes that every sampler and budget has."""
    seeds: dict[tuple[str, int], set[int]] = defaultdict(set)
    for row in rows:
        seeds[row["sampler"], row["budget"]].add(row["seed"])
    shared = set.intersection(*seeds.values())
    return [row for row in rows if row["seed"] in shared]


def draw_kinds(rows: list[dict[str, Any]], path: pathlib.Path) -> None:
    """A panel a kind: characters right against tokens to encode a second, a line a sampler."""
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    figure, panels = plt.subplots(-(-len(kinds) // 4), 4, figsize=(13, 6), sharey=True, sharex=True, squeeze=False)
    for panel, kind in zip(panels.flat, kinds, strict=False):
        lines = curves(of_all([row for row in rows if row["kind"] == kind]), "tokens_s")
        for sampler in [name for name in STYLES if name in lines]:
            color, style = FOVEA_BESIDE_ADAPTIVE if sampler == "nested" else STYLES[sampler]
            x, mean, low, high = zip(*lines[sampler], strict=True)
            errors = [[m - v for m, v in zip(mean, low, strict=True)], [v - m for m, v in zip(mean, high, strict=True)]]
            label = "every pixel" if sampler == "full" else sampler
            shape = "*" if sampler == "full" else style
            panel.errorbar(x, mean, yerr=errors, color=color, fmt=shape, capsize=2, ms=9 if shape == "*" else 4,
                           lw=2 if sampler == "adaptive" else 1, label=label)  # fmt: skip
        panel.set_title(kind, fontsize=10)
        panel.set_xscale("log")
        panel.set_ylim(-0.02, 1.04)
        panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("tokens to encode, a second")
    for row_of_panels in panels:
        row_of_panels[0].set_ylabel("characters right")
    handles, labels_shown = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels_shown, loc="lower center", ncol=len(handles), frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=100)
    plt.close(figure)
    print(path)


def draw(out: pathlib.Path) -> None:
    """One picture a task and kind of scene; of fidelity all clips together, and of the screens all kinds."""
    screens = [row for row in read_rows(out / "rows.jsonl") if row["kind"] in DESK and row.get("reader") == "tesseract"]
    if screens:
        draw_kinds(screens, out / "reading-screens.png")
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(out / "rows.jsonl"):
        if "picture" in row or row["task"] not in MEASURES:  # with and without memory, and reuse: tables alone
            continue
        kind = (
            "clips"
            if row["task"] == "fidelity"
            else row["kind"] + ("-" + row["reader"] if row.get("reader", "tesseract") != "tesseract" else "")
        )
        groups[row["task"], kind].append(row)
    for (task, kind), rows in groups.items():
        draw_one(rows, f"{task}: {kind}", out / f"{task}-{kind}.png")
        print(out / f"{task}-{kind}.png")
