"""Views of images and streams: pixels against NumPy and through transformers' processors, maps, messages."""

from __future__ import annotations

import base64
import dataclasses
import io
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import pysaccade as sc
from conftest import ROOT, skip_or_fail

Image = np.ndarray[Any, np.dtype[np.uint8]]


def screen(width: int = 1913, height: int = 1077, seed: int = 29) -> Image:
    rng = np.random.default_rng(seed)
    image = np.full((height, width, 3), 236, np.uint8)
    image[80:140, 96:500] = rng.integers(0, 255, (60, 404, 3), np.uint8)
    image[700:900, 1300:1600] = rng.integers(0, 255, (200, 300, 3), np.uint8)
    return image


def mean(image: Image, view: Any) -> Image:
    """The pixels that a view should have: means of the frame's, rounded once; grey beyond it."""
    left, top, right, bottom = view.box
    side = 2**view.level
    height, width = image.shape[:2]
    rows, cols = np.clip(np.arange(top, bottom), 0, height - 1), np.clip(np.arange(left, right), 0, width - 1)
    part = image[rows][:, cols].astype(np.int64)
    part = part.reshape(len(rows) // side, side, len(cols) // side, side, 3).sum(axis=(1, 3))
    out = ((part + side * side // 2) // (side * side)).astype(np.uint8)
    out[np.arange(top, bottom, side) >= height] = 128
    out[:, np.arange(left, right, side) >= width] = 128
    return out


@pytest.mark.parametrize("model", sc.TokenRule.names())
def test_pixels_are_exact_means_in_sizes_that_are_kept(model: str) -> None:
    image = screen()
    views = sc.views(image, 12000 if model == "gpt-4o-mini" else 1800, model)
    assert len(views) > 0
    rule = sc.TokenRule.of(model)
    assert views.tokens == sum(rule.tokens(*view.image.shape[1::-1]) for view in views)
    assert views.tokens <= 12000
    assert views[0].reason == "overview"
    for view in views:
        height, width = view.image.shape[:2]
        assert rule.seen(width, height) == (width, height)
        assert view.scale == 2.0**-view.level
        assert (view.box[2] - view.box[0], view.box[3] - view.box[1]) == (width << view.level, height << view.level)
        np.testing.assert_array_equal(view.image, mean(image, view))


@pytest.mark.parametrize(("model", "patch", "least"), [("qwen2-vl", 14, 3136), ("qwen3-vl", 16, 65536)])
def test_qwens_processor_changes_no_pixel(model: str, patch: int, least: int) -> None:
    transformers = pytest.importorskip("transformers")
    processor = transformers.Qwen2VLImageProcessor(
        size={"shortest_edge": least, "longest_edge": 12845056}, patch_size=patch, do_normalize=False, do_rescale=False
    )
    for view in sc.views(screen(), 900, model):
        height, width = view.image.shape[:2]
        made = processor(images=[view.image], return_tensors="np")
        rows, cols = height // patch, width // patch
        assert made["image_grid_thw"].tolist() == [[1, rows, cols]]
        assert rows * cols // 4 == view.tokens
        pixels = np.asarray(made["pixel_values"]).reshape(rows // 2, cols // 2, 2, 2, 3, 2, patch, patch)
        back = pixels[:, :, :, :, :, 0].transpose(0, 2, 5, 1, 3, 6, 4).reshape(height, width, 3)
        np.testing.assert_array_equal(back, view.image)


def test_internvls_and_gemmas_processors_change_no_pixel() -> None:
    transformers = pytest.importorskip("transformers")
    tiles = transformers.GotOcr2ImageProcessor(
        crop_to_patches=True, size={"height": 448, "width": 448}, do_normalize=False, do_rescale=False
    )
    for view in sc.views(screen(), 2600, "internvl"):
        made = np.asarray(tiles(images=[view.image], return_tensors="np")["pixel_values"])
        cols = view.image.shape[1] // 448
        assert len(made) * 256 == view.tokens
        for index in range(cols * (view.image.shape[0] // 448)):
            y, x = index // cols * 448, index % cols * 448
            np.testing.assert_array_equal(made[index].transpose(1, 2, 0), view.image[y : y + 448, x : x + 448])
    whole = transformers.Gemma3ImageProcessor(
        size={"height": 896, "width": 896}, do_normalize=False, do_rescale=False, do_pan_and_scan=False
    )
    for view in sc.views(screen(), 600, "gemma-3"):
        made = np.asarray(whole(images=[view.image], return_tensors="np")["pixel_values"])
        np.testing.assert_array_equal(made[0].transpose(1, 2, 0), view.image)


def test_a_stream_sends_what_changed_and_no_more() -> None:
    first = screen()
    second = first.copy()
    second[400:420, 1000:1200] = np.random.default_rng(1).integers(0, 255, (20, 200, 3), np.uint8)
    stream = sc.Stream([first] * 6 + [second] * 2, every=1, array="numpy")
    sent = [emission.views(1568) for emission in stream]
    assert sent[0][0].reason == "overview"
    assert len(sent[5]) == 0
    (view,) = sent[6]
    assert view.reason == "new"
    assert view.scale == 1
    assert view.box[0] <= 1000
    assert view.box[2] >= 1200
    assert view.box[1] <= 400
    assert view.box[3] >= 420
    np.testing.assert_array_equal(view.image, mean(second, view))
    assert len(sent[7]) == 0
    assert sent[7].caption == ""


def test_views_of_a_stream_iterate_and_forget_sends_again() -> None:
    stream = sc.Stream([screen()] * 8, every=1, array="numpy")
    looks = list(sc.views(stream, 1568))
    assert [views.frame for views in looks] == list(range(len(looks)))
    assert 0 < len(looks) < 8
    stream.reopen()
    emission = next(stream)
    while emission.views(1568):
        pass
    stream.forget((0.0, 0.0, 0.3, 0.2))
    assert 0 < emission.views(1568)[0].box[2] <= 0.5 * 1913
    stream.forget()
    assert emission.views(1568)[0].reason == "overview"


def test_video_has_the_colours_of_its_patches(tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    make = "ffmpeg -v error -f lavfi -i testsrc2=size=640x360:rate=5:duration=1 -pix_fmt yuv420p -y"
    subprocess.run([*make.split(), str(clip)], check=True)
    stream = sc.Stream(clip, lattice="uniform", lod=0, tokens=920, every=1, array="numpy", device="cpu")
    emission = next(stream)
    (view,) = emission.views(2000)
    for patch, (u, v), cover in zip(emission.patches, emission.uv, emission.coverage, strict=True):
        x, y = u * 640 - 8, v * 360 - 8
        if cover == 1 and x == int(x) and y == int(y):
            part = view.image[int(y) : int(y) + 16, int(x) : int(x) + 16]
            np.testing.assert_array_equal(part, patch.transpose(1, 2, 0))


@pytest.mark.parametrize("backend", ["gl", "cuda"])
def test_every_backend_gives_the_same_views(backend: str) -> None:
    def looks(name: str) -> list[sc.Views]:
        stream = sc.Stream(ROOT / "assets/desktop.mp4", backend=name, array="numpy", duration=1.5, every=12)
        return [emission.views(900) for emission in stream]

    try:
        found = looks(backend)
    except sc.UnavailableError as error:
        skip_or_fail(backend, str(error))
    for views, others in zip(looks("cpu"), found, strict=True):
        assert [(view.box, view.scale, view.reason) for view in views] == [
            (view.box, view.scale, view.reason) for view in others
        ]
        for view, other in zip(views, others, strict=True):
            assert np.abs(view.image.astype(int) - other.image).max() <= 1  # colours are worked out in floats


def test_points_come_back_exactly() -> None:
    rng = np.random.default_rng(3)
    for model in sc.TokenRule.names():
        views = sc.views(screen(), 9000, model)
        for units in (None, "pixels", "thousandths", "normalized"):
            for space in ("frame", "display", "coded", "uv"):
                for _ in range(20):
                    i, x, y = int(rng.integers(len(views))), *rng.uniform(0, 500, 2)
                    at = views.to_frame(i, x, y, units=units, space=space)
                    assert views.from_frame(*at, i=i, units=units, space=space) == (
                        i,
                        pytest.approx(x),
                        pytest.approx(y),
                    )
    views = sc.views(screen(), 1568, "qwen3-vl")
    left, top, right, bottom = views[-1].box
    assert views.to_frame(len(views) - 1, 500, 1000) == ((left + right) / 2, bottom)  # 0 to 1000
    assert views.to_frame(len(views) - 1, 70, 14, units="pixels", seen=(140, 28)) == (
        (left + right) / 2,
        (top + bottom) / 2,
    )
    found = views.from_frame((left + right) / 2, (top + bottom) / 2)
    assert found is not None
    assert views[found[0]].scale == max(view.scale for view in views)
    assert views.from_frame(-5, 1) is None


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_coded_pixels_of_rotated_video(tmp_path: Path, rotation: int) -> None:
    """A white square in the coded picture is found in a view, and mapped back to where it was drawn."""
    flat, clip = tmp_path / "flat.mp4", tmp_path / "clip.mp4"
    draw = "color=black:size=320x192:rate=5:duration=1,drawbox=x=240:y=32:w=16:h=16:color=white:t=fill,setsar=4/3"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", draw, "-qp", "0", "-pix_fmt", "yuv420p", flat], check=True
    )
    rotate = ["-c", "copy", "-metadata:s:v:0", f"rotate={rotation}"]
    subprocess.run(["ffmpeg", "-v", "error", "-i", flat, *rotate, clip], check=True)
    stream = sc.Stream(clip, array="numpy", device="cpu")
    emission = next(stream)
    views = emission.views(1568)
    ys, xs = np.nonzero(views[0].image[..., 1] > 200)
    at = views.to_frame(0, xs.mean() + 0.5, ys.mean() + 0.5, space="coded")
    assert at == (pytest.approx(248, abs=0.5), pytest.approx(40, abs=0.5))
    frame = views.to_frame(0, 10, 10)
    shown = views.to_frame(0, 10, 10, space="display")
    assert sorted((shown[0] / frame[0], shown[1] / frame[1])) == [pytest.approx(1), pytest.approx(4 / 3)]


def test_messages_have_the_forms_of_the_apis() -> None:
    views = sc.views(screen(), 900)
    pil = pytest.importorskip("PIL.Image")

    def decoded(text: str) -> Image:
        return np.asarray(pil.open(io.BytesIO(base64.b64decode(text))))

    (message,) = views.messages("openai", "Where?")
    *images, words = message["content"]
    assert message["role"] == "user"
    assert words["text"].endswith(" Where?")
    for block, view in zip(images, views, strict=True):
        kind, data = block["image_url"]["url"].split(",")
        assert kind == "data:image/png;base64"
        np.testing.assert_array_equal(decoded(data), view.image)
    (message,) = views.messages("anthropic")
    assert message["content"][0]["source"]["media_type"] == "image/png"
    np.testing.assert_array_equal(decoded(message["content"][0]["source"]["data"]), views[0].image)
    (message,) = views.messages("gemini")
    np.testing.assert_array_equal(decoded(message["parts"][0]["inline_data"]["data"]), views[0].image)
    assert message["parts"][-1] == {"text": views.caption}
    (message,) = views.messages("transformers")
    np.testing.assert_array_equal(np.asarray(message["content"][0]["image"]), views[0].image)
    with pytest.raises(ValueError, match="the API is openai, anthropic, gemini, transformers"):
        views.messages("ollama")
    assert "one frame of 1913x1077 pixels: image 1 is all of it" in views.caption
    assert "in pixels of that image" in views.caption
    assert "0 to 1000" in sc.views(screen(), 900, "qwen3-vl").caption


@pytest.mark.parametrize("mode", ["P", "1", "CMYK", "YCbCr", "LA"])
def test_pillows_modes_have_their_colours(mode: str) -> None:
    picture = PIL.Image.fromarray(screen()[60:228, 80:360]).convert(mode)
    (view,) = sc.views(picture, 1000)
    assert view.level == 0
    assert np.array_equal(view.image[:168, :280], np.asarray(picture.convert("RGB")))


def test_a_rule_limits_the_pictures() -> None:
    for most in (1, 2):
        rule = dataclasses.replace(sc.TokenRule.of("qwen2.5-vl"), most_images=most)
        assert 0 < len(sc.views(screen(), 1568, rule)) <= most


def test_what_is_wrong_is_said() -> None:
    stream = sc.Stream([screen()] * 3, every=1, array="numpy")
    first = next(stream)
    next(stream)
    with pytest.raises(ValueError, match="another emission since"):
        first.views()
    with pytest.raises(ValueError, match="no stream with it"):
        pickle.loads(pickle.dumps(first)).views()
    emission = next(stream)
    with pytest.raises(ValueError, match="no model 'gpt'"):
        emission.views(model="gpt")
    with pytest.raises(ValueError, match="budget is 0"):
        emission.views(0)
    with pytest.raises(ValueError, match="1568 tokens; one picture takes 8500 or more"):
        emission.views(model="gpt-4o-mini")
    with pytest.raises(ValueError, match="both lie between 0 and 1"):
        emission.views(look=(2, 0.5))
    views = emission.views()
    with pytest.raises(ValueError, match="i is 99"):
        views.to_frame(99, 0, 0)
    with pytest.raises(ValueError, match="units is pixels"):
        views.to_frame(0, 0, 0, units="mm")
    with pytest.raises(ValueError, match="space is frame"):
        views.to_frame(0, 0, 0, space="screen")
    with pytest.raises(ValueError, match="space is frame"):
        views.to_frame(0, 0, 0, space=["frame"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"seen takes \(width, height\), not int 5"):
        views.to_frame(0, 0, 0, seen=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the API is openai"):
        views.messages(["openai"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="text takes a str, not int 5"):
        views.messages("openai", 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there are no views"):
        emission.views(new_only=True).to_frame(0, 0, 0)
    with pytest.raises(TypeError, match="takes an image or a Stream"):
        sc.views(3)
    with pytest.raises(TypeError, match=r"PIL\.Image\.open"):
        sc.views("picture.png")
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        emission.views()
    ahead = sc.Stream([screen()] * 3, every=1, array="numpy", prefetch=1)
    with pytest.raises(ValueError, match="need prefetch=0"):
        next(ahead).views()
