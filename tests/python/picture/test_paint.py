"""`paint` gives the pixels of `saccade reconstruct`; what a notebook shows, other programs read."""

from __future__ import annotations

import base64
import io
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pysaccade as sc
from conftest import import_or_skip
from pysaccade.picture._paint import fit
from pysaccade.picture._png import encode_png


def read_png(path: Path, ffmpeg: str) -> np.ndarray:
    """A picture as ffmpeg decodes it."""
    probe = subprocess.run(
        [ffmpeg, "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True
    )
    width, height = np.frombuffer(path.read_bytes()[16:24], ">u4")
    return np.frombuffer(probe.stdout, np.uint8).reshape(height, width, 3)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--lattice", "grid", "--patches", 200),
        ("--lattice", "uniform", "--patches", 40),
        ("--dtype", "f32", "--normalize", "clip"),
        ("--dtype", "f16", "--normalize", "siglip", "--vf", "scale=333:187,setsar=4/3"),
        ("--vf", "setsar=3/4"),
    ],
    ids=str,
)
def test_pixels_are_those_of_reconstruct(
    run_program, clip: Path, ffmpeg: str, tmp_path: Path, options: tuple[object, ...]
):
    run_program("dump", clip, "-o", tmp_path / "d", "--frames", 30, "--every", 15, "--lattice", "nested",
                "--log-level", "error", *options)  # fmt: skip
    for i, emission in enumerate(sc.Dump(tmp_path / "d")):
        picture = tmp_path / f"{i}.png"
        run_program("reconstruct", tmp_path / "d", "-o", picture, "--emission", i)
        np.testing.assert_array_equal(sc.paint(emission, mark=True), read_png(picture, ffmpeg))


def test_saccade_in_flight_is_drawn_as_by_reconstruct(run_program, clip: Path, ffmpeg: str, tmp_path: Path):
    run_program("dump", clip, "-o", tmp_path / "d", "--frames", 60, "--every", "frame", "--lattice", "nested",
                "--log-level", "error")  # fmt: skip
    dump = sc.Dump(tmp_path / "d")
    i = int(np.flatnonzero(dump.index["in_flight"])[0])
    run_program("reconstruct", tmp_path / "d", "-o", tmp_path / "x.png", "--emission", i)
    np.testing.assert_array_equal(sc.paint(dump[i], mark=True), read_png(tmp_path / "x.png", ffmpeg))
    assert (sc.paint(dump[i]) != sc.paint(dump[i], mark=True)).any()


def test_grid_at_full_resolution_is_the_frame_to_the_bit():
    frame = np.random.default_rng(3).integers(0, 256, (48, 80, 3), np.uint8)
    patches = frame.reshape(3, 16, 5, 16, 3).transpose(0, 2, 4, 1, 3).reshape(15, 3, 16, 16)
    v, u = np.divmod(np.arange(15), 5) + np.array(0.5)
    geometry = np.stack([u / 5, v / 3, np.zeros(15), np.ones(15)], 1).astype(np.float32)
    np.testing.assert_array_equal(sc.paint(patches, geometry, (48, 80)), frame)
    normalised = (patches / np.float32(255) - 0.5) / 0.25
    np.testing.assert_array_equal(
        sc.paint(normalised.astype(np.float32), geometry, (48, 80), mean=(0.5,) * 3, std=(0.25,) * 3), frame
    )


def test_fine_patches_lie_over_coarse_ones_and_the_rest_is_grey():
    patches = np.stack([np.full((3, 16, 16), value, np.uint8) for value in (10, 200, 90)])
    geometry = np.array([[0.5, 0.5, 0, 1], [0.5, 0.5, 1, 1], [0.1, 0.1, 0, 0]], np.float32)  # the last: outside
    picture = sc.paint(patches, geometry, (64, 64))
    assert picture[32, 32].tolist() == [10] * 3
    assert picture[20, 20].tolist() == [200] * 3
    assert picture[5, 5].tolist() == [128] * 3
    assert [(picture == value).all(axis=2).sum() for value in (10, 200, 128)] == [256, 1024 - 256, 4096 - 1024]


def test_width_scales_the_picture(dumped: Path):
    emission = sc.Dump(dumped)[3]
    small, whole = sc.paint(emission, width=320), sc.paint(emission)
    assert small.shape == (180, 320, 3)
    means = whole.reshape(180, 4, 320, 4, 3).mean(axis=(1, 3))
    assert np.abs(small - means).mean() < 12


@pytest.mark.torch
def test_tensors_of_every_type_are_painted(dumped: Path):
    import torch

    emission = sc.Dump(dumped)[3]
    truth = sc.paint(emission)
    for dtype, most in ((torch.uint8, 0), (torch.float32, 1), (torch.float16, 1), (torch.bfloat16, 1)):
        ours = sc.paint(emission.to("cpu", dtype))
        assert np.abs(ours.astype(int) - truth).max() <= most  # a half is rounded up or down
    e = emission.to()
    np.testing.assert_array_equal(sc.paint(e.patches, e.geometry, e.size), truth)

    class Plan:
        centers, lod, coverage, patch_size = e.uv.double(), e.lod, e.coverage, 16

    np.testing.assert_array_equal(sc.paint(e.patches, Plan(), e.size), truth)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((np.zeros((2, 3, 16, 16), np.uint8),), TypeError, "give an Emission, or patches with their plan"),
        ((np.zeros((2, 3, 16, 15), np.uint8), np.zeros((2, 4)), (9, 9)), ValueError, r"patches are \[2, 3, 16, 15\]"),
        (
            (np.zeros((2, 3, 16, 16), np.uint8), np.zeros((3, 4)), (9, 9)),
            ValueError,
            r"the plan is \[3, 4\] for 2 patches",
        ),
    ],
)
def test_what_does_not_fit_is_named(arguments: tuple[Any, ...], error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        sc.paint(*arguments)


# ---- PNG ----


@settings(deadline=None, max_examples=30)
@given(arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3))))
def test_png_holds_the_pixels(image: np.ndarray):
    pillow = import_or_skip("PIL.Image")
    with pillow.open(io.BytesIO(encode_png([image]))) as read:
        assert read.mode == "RGB"
        np.testing.assert_array_equal(np.asarray(read), image)


def test_film_holds_the_pictures_and_times():
    pillow = import_or_skip("PIL.Image")
    images = list(np.random.default_rng(1).integers(0, 256, (4, 9, 7, 3), np.uint8))
    with pillow.open(io.BytesIO(encode_png(images, [0.25, 0.04, 100.0, 0.0]))) as film:
        assert film.n_frames == 4
        times = []
        for i, image in enumerate(images):
            film.seek(i)
            np.testing.assert_array_equal(np.asarray(film.convert("RGB")), image)
            times.append(film.info["duration"])
    assert times == [250, 40, 65535, 1]


def test_emission_shows_itself_in_a_notebook(dumped: Path, ffmpeg: str, tmp_path: Path):
    emission = sc.Dump(dumped)[2]
    (tmp_path / "x.png").write_bytes(emission._repr_png_())
    np.testing.assert_array_equal(read_png(tmp_path / "x.png", ffmpeg), sc.paint(emission, width=640, mark=True))


def test_dump_shows_a_film_in_a_notebook(dumped: Path):
    pillow = import_or_skip("PIL.Image")
    html = sc.Dump(dumped)._repr_html_()
    found = re.search(r'<img src="data:image/png;base64,([^"]+)">', html)
    assert found
    with pillow.open(io.BytesIO(base64.b64decode(found[1]))) as film:
        assert film.n_frames == len(sc.Dump(dumped))
        assert film.size == (320, 180)
    assert "emissions x 273 patches" in html


def test_a_whole_dump_is_a_page(dumped: Path, tmp_path: Path):
    import html as escapes
    import json
    import re

    dump = sc.Dump(dumped)
    shown = sc.show(dump, width=64)
    shown.save(tmp_path / "seen.html")
    saved = (tmp_path / "seen.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', saved, re.DOTALL)[1])
    np.testing.assert_allclose(data["u"], dump.index["fix_u"], atol=1e-7)
    element = r'<iframe sandbox="allow-scripts" style="[^"]*" srcdoc="([^"]*)"></iframe>'
    frame = re.fullmatch(element, shown._repr_html_())
    assert escapes.unescape(frame[1]) == saved
    assert sc.show(dump[:2], width=64)._repr_html_().startswith("<img ")  # a part is its film
    with pytest.raises(ValueError, match=r"\.html"):
        sc.show(dump[:2], width=64).save(tmp_path / "part.html")


def test_film_shows_each_emission_at_its_time(dumped: Path):
    dump = sc.Dump(dumped)
    for what in (dump, list(dump), iter(dump)):
        film = sc.show(what, width=64)
        assert len(film.images) == len(dump)
        np.testing.assert_allclose(film.seconds[:-1], np.diff(dump.pts_seconds))
    assert len(sc.show(dump, width=64, most=5).images) == 5
    assert repr(sc.show(dump[:2], width=64)).startswith("Picture(64x36, 2 frames, ")


def test_frame_stands_beside_what_the_model_gets(dumped: Path, tmp_path: Path):
    dump = sc.Dump(dumped)
    frame = np.full((720, 1280, 3), 7, np.uint8)
    for given_frame in (frame, frame.transpose(2, 0, 1), (frame / np.float32(255))):
        picture = sc.show(dump[0], frame=given_frame, width=320, mark=False)
        assert picture.images[0].shape == (180, 640, 3)
        assert (picture.images[0][:, :320] == 7).all()
        np.testing.assert_array_equal(picture.images[0][:, 320:], sc.paint(dump[0], width=320))
    film = sc.show(dump[:3], frame=[frame] * 3, width=64)
    assert film.images[2].shape == (36, 128, 3)
    film.save(tmp_path / "film.png")
    assert (tmp_path / "film.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(ValueError, match="show: 2 frames for 3 emissions"):
        sc.show(dump[:3], frame=[frame] * 2)
    with pytest.raises(ValueError, match="show: there is no emission"):
        sc.show(dump[:0])
    with pytest.raises(ValueError, match=r"a frame is \[4, 5\]"):
        sc.show(dump[0], frame=np.zeros((4, 5)))


def test_picture_of_an_array_is_shown_as_it_is():
    image = np.random.default_rng(2).integers(0, 256, (40, 60, 3), np.uint8)
    np.testing.assert_array_equal(sc.show(image, width=60).images[0], image)


def test_fit_gives_means(ffmpeg: str):
    image = np.random.default_rng(2).integers(0, 256, (40, 60, 3), np.uint8)
    np.testing.assert_allclose(fit(image, 20), image.reshape(20, 2, 30, 2, 3).mean(axis=(1, 3)), atol=0.51)
    np.testing.assert_array_equal(fit(image, 80), image.repeat(2, 0).repeat(2, 1))


def test_save_refuses_what_is_no_png(tmp_path: Path):
    with pytest.raises(ValueError, match="png"):
        sc.show(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "seen.jpg")
    assert not (tmp_path / "seen.jpg").exists()


@pytest.mark.parametrize("shape", [(3, 64, 64), (2, 3, 64, 64), (1, 64, 64)])
def test_pyramid_shows_its_levels_side_by_side(shape: tuple[int, ...]):
    codes = np.random.default_rng(5).integers(0, 256, shape).astype(np.uint8)
    pyramid = sc.TexturePyramid(codes)
    (shown,) = sc.show(pyramid, width=96).images
    assert shown.shape == (64, 96, 3)
    top = 0
    for level in range(5):
        first = pyramid.level(level)
        first = first[0] if first.ndim == 4 else first
        wanted = np.broadcast_to(first, (3, *first.shape[1:])).transpose(1, 2, 0)
        side = 64 >> level
        found = shown[:64, :64] if level == 0 else shown[top : top + side, 64 : 64 + side]
        assert np.array_equal(found, wanted)
        top += side if level else 0
