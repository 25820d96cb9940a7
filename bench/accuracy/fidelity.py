"""Fidelity: how near what is painted from patches comes to the frame: at the fixation, everywhere, where it moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from clips import clip_path
from samplers import Look, frames, sampler_of, tokens_of
from scenes import Scene

import pysaccade as sc

NEAR_PX = 64  # around the fixation: 2 degrees of a frame 1280 wide
SECONDS = 6.0
EYELESS = ("uniform", "full", "adaptive", "changed")


def psnr(a: np.ndarray, b: np.ndarray) -> float:
    """In dB, of samples in 0 to 255; 60 where both are the same."""
    error = float(np.mean((a.astype(np.float64) - b) ** 2)) if a.size else 0.0
    return 60.0 if error < 1e-9 else min(10 * np.log10(255**2 / error), 60.0)


def ssim(a: np.ndarray, b: np.ndarray, window: int = 8) -> float:
    """Mean SSIM of luma (Wang et al. 2004) over squares of `window` pixels without overlap."""
    x, y = (_blocks(image, window) for image in (a, b))
    mx, my = x.mean(-1), y.mean(-1)
    covariance = ((x - mx[..., None]) * (y - my[..., None])).mean(-1)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    top = (2 * mx * my + c1) * (2 * covariance + c2)
    return float(np.mean(top / ((mx**2 + my**2 + c1) * (x.var(-1) + y.var(-1) + c2))))


def _blocks(image: np.ndarray, window: int) -> np.ndarray:
    luma = image.astype(np.float64) @ np.array([0.2126, 0.7152, 0.0722])
    rows, cols = luma.shape[0] // window, luma.shape[1] // window
    cut = luma[: rows * window, : cols * window].reshape(rows, window, cols, window)
    return cut.transpose(0, 2, 1, 3).reshape(rows, cols, window * window)


def eyes(looks: list[Look], others: list[Look]) -> list[tuple[float, float]]:
    """Of each look where the eye of `others` rests, uv: that of the one nearest in time."""
    return [min(others, key=lambda other: abs(other.seconds - look.seconds)).fixation for look in looks]


def looks_of(row: dict[str, Any], sampler: str) -> list[Look]:
    """What a sampler shows of the clip's first seconds."""
    path = clip_path(row["kind"])
    scene = Scene(row["kind"], SECONDS, lambda t: np.empty(0))
    return [look for look in sampler_of(sampler)(scene, path, row["budget"] or 273) if look.seconds < SECONDS]


def reuse(row: dict[str, Any]) -> dict[str, Any]:
    """One clip by one sampler: its tokens, and those to encode."""
    return tokens_of(looks_of(row, row["sampler"]), SECONDS)


def luma(row: dict[str, Any]) -> dict[str, Any]:
    """One clip by one sampler: the PSNR of luma of the receiver's picture at each look after the first second.

    A quality that was asked for is that of samples as squares of one colour.
    """
    looks = looks_of(row, row["sampler"])
    weights = np.array([0.2126, 0.7152, 0.0722])
    memory, nearest = sc.PictureMemory(), []
    shown = frames(clip_path(row["kind"]), {look.seconds for look in looks})
    for (_, frame), look in zip(shown, looks, strict=False):
        interpolate = "target_psnr" not in row["sampler"]
        seen = sc.paint(look.patches, look.geometry, look.size, memory=memory, interpolate=interpolate)
        if look.seconds >= 1:
            nearest.append(psnr(seen @ weights, frame @ weights))
    return tokens_of(looks, SECONDS) | {"luma": float(np.mean(nearest)), "scores": nearest}


def run(row: dict[str, Any]) -> dict[str, Any]:
    """One clip by one sampler. One without an eye is measured where nested ones look."""
    path = clip_path(row["kind"])
    looks = looks_of(row, row["sampler"])
    places = eyes(looks, looks_of(row, "nested") if row["sampler"] in EYELESS else looks)
    near, near_ssim, whole, whole_ssim, moving, before = [], [], [], [], [], None
    memory = sc.PictureMemory() if row.get("picture") == "memory" else False
    shown = frames(path, {look.seconds for look in looks})
    for (_, frame), look, place in zip(shown, looks, places, strict=True):
        seen = sc.paint(look.patches, look.geometry, look.size, memory=memory)
        height, width = look.size
        x, y = int(place[0] * width), int(place[1] * height)
        part = np.s_[max(y - NEAR_PX, 0) : y + NEAR_PX, max(x - NEAR_PX, 0) : x + NEAR_PX]
        near.append(psnr(seen[part], frame[part]))
        near_ssim.append(ssim(seen[part], frame[part]))
        whole.append(psnr(seen, frame))
        whole_ssim.append(ssim(seen, frame))
        if before is not None:
            moved = np.abs(frame.astype(int) - before).max(-1) > 24
            if moved.sum() > 100:
                moving.append(psnr(seen[moved], frame[moved]))
        before = frame.astype(int)
    return tokens_of(looks, SECONDS) | {
        "psnr_near": float(np.mean(near)),
        "ssim_near": float(np.mean(near_ssim)),
        "psnr_frame": float(np.mean(whole)),
        "ssim_frame": float(np.mean(whole_ssim)),
        "psnr_moving": float(np.mean(moving)) if moving else float("nan"),
        "scores": near,
        "wholes": whole,
        "movings": moving,
    }
