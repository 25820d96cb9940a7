"""`Stream`: the bytes of the program's dump, ffprobe's times, every option, emissions that are the caller's."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pysaccade as sc
from stream_support import assert_same_as_dump, ffprobe_pts_ns

# Options that leave with the next version still work.
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves with the next version:DeprecationWarning")

BOX = "test://box?size=320x240&frames=40&rate=20"


def numpy_stream(source: object = BOX, **options: object) -> sc.Stream:
    return sc.Stream(source, array="numpy", device="cpu", **options)


def patches_of(stream: sc.Stream) -> list[np.ndarray]:
    return [emission.patches for emission in stream]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lattice": "nested"},
        {"every": "frame", "frames": 30},
        {"every": 7, "lattice": "grid", "tokens": 100, "patch_size": 8, "dtype": "f32"},
        {"lattice": "uniform", "lod": 2, "dtype": "f16", "normalize": "clip", "duration": 3},
        {
            "lattice": "nested",
            "strides": "1,2",
            "grid_sizes": "4,6",
            "start": 2.5,
            "duration": 2,
            "fixation": "raster:3x2",
            "rate": 8,
        },
        {"normalize": "siglip", "dtype": "f32", "fixation": "random", "seed": 7, "duration": 2, "threads": 1},
        {"normalize": "imagenet", "dtype": "f16", "threshold": 6, "min_samples": 3, "levels": 5, "frames": 60},
        {"vf": "scale=333:222,transpose=1", "fov_deg": 60, "preset": "geisler-perry", "lattice": "grid", "frames": 50},
    ],
    ids=lambda options: ",".join(options) or "defaults",
)
def test_patches_are_the_bytes_of_the_programs_dump(options: dict, clip: Path, run_program, tmp_path: Path):
    words = [word for name, value in options.items() for word in ("--set", f"{name.replace('_', '-')}={value}")]
    run_program("dump", clip, "-o", tmp_path / "dump", "--backend", "cpu", "--log-level", "error", *words)
    assert_same_as_dump(list(numpy_stream(clip, **options)), tmp_path / "dump")


def test_values_of_python_mean_what_their_texts_mean(clip: Path):
    texts = {
        "lattice": "nested",
        "strides": "1,2",
        "grid_sizes": "4,6",
        "frames": "20",
        "every": "frame",
        "fixation": "center:0.25,0.5",
    }
    values = {
        "lattice": "nested",
        "strides": (1, np.int64(2)),
        "grid_sizes": [4, 6],
        "frames": np.uint8(20),
        "every": 1,
    }
    first = patches_of(numpy_stream(clip, **texts))
    second = patches_of(numpy_stream(clip, **values, fixation=(0.25, 0.5), loop=False, vf=None))
    assert len(first) == len(second) == 20
    np.testing.assert_array_equal(first, second)


def test_times_are_those_of_ffprobe(clip: Path):
    emissions = list(numpy_stream(clip, every="frame", frames=60))
    assert [emission.pts_ns for emission in emissions] == ffprobe_pts_ns(clip, 60)
    assert [emission.frame for emission in emissions] == list(range(60))
    assert emissions[7].pts_seconds == emissions[7].pts_ns / 1e9


def test_times_of_a_variable_rate_are_those_of_ffprobe(ffmpeg: str, tmp_path: Path):
    path = tmp_path / "variable.mkv"
    graph = "testsrc2=size=128x96:rate=30,select='not(mod(n,3))+gt(n,40)',setpts=PTS+7/TB"
    command = [ffmpeg, "-v", "error", "-f", "lavfi", "-i", graph, "-t", "3", "-fps_mode", "passthrough", path]
    subprocess.run(command, check=True)
    emissions = list(numpy_stream(path, every="frame"))
    assert [emission.pts_ns for emission in emissions] == ffprobe_pts_ns(path, len(emissions))
    assert len({b.pts_ns - a.pts_ns for a, b in itertools.pairwise(emissions)}) > 1


def test_emissions_are_the_callers_own(clip: Path):
    """Surfaces overwritten by the next call: VPF 20."""
    with numpy_stream(clip, every="frame", frames=40) as stream:
        emissions, kept = [], []
        for emission in stream:
            emissions.append(emission)
            kept.append([emission.patches.copy(), emission.geometry.copy(), emission.changed.copy()])
    del stream
    gc.collect()
    for emission, (patches, geometry, changed) in zip(emissions, kept, strict=True):
        np.testing.assert_array_equal(emission.patches, patches)
        np.testing.assert_array_equal(emission.geometry, geometry)
        np.testing.assert_array_equal(emission.changed, changed)
    emissions[0].patches[:] = 1  # writable, and nobody else's
    np.testing.assert_array_equal(emissions[1].patches, kept[1][0])
    assert len({emission.patches.ctypes.data for emission in emissions}) == 40


@pytest.mark.torch
def test_torch_tensors_hold_what_numpys_arrays_hold(clip: Path):
    import torch

    tensors = list(sc.Stream(clip, device="cpu", dtype=torch.float16, normalize="clip", frames=60))
    arrays = list(numpy_stream(clip, dtype=np.float16, normalize="clip", frames=60))
    assert len(tensors) == len(arrays) > 3
    for tensor, array in zip(tensors, arrays, strict=True):
        assert tensor.patches.dtype == torch.float16
        assert (tensor.geometry.dtype, tensor.changed.dtype) == (torch.float32, torch.bool)
        np.testing.assert_array_equal(tensor.patches.numpy(), array.patches)
        np.testing.assert_array_equal(tensor.geometry.numpy(), array.geometry)
        np.testing.assert_array_equal(tensor.changed.numpy(), array.changed)
    assert tensors[0].patches[tensors[0].new].shape[1:] == (3, 16, 16)


@pytest.mark.torch
@pytest.mark.parametrize("spelling", ["torch.uint8", "u8", "uint8", "numpy.uint8", "torch.float32", "f4", "float32"])
def test_dtypes_in_every_spelling(spelling: str):
    import torch

    named = {"torch.uint8": torch.uint8, "numpy.uint8": np.uint8, "torch.float32": torch.float32}
    stream = sc.Stream(BOX, dtype=named.get(spelling, spelling), device=torch.device("cpu"))
    assert next(stream).patches.dtype == (torch.uint8 if "8" in spelling else torch.float32)


def test_floats_are_samples_between_zero_and_one_and_normalised_ones_by_the_formula(clip: Path):
    codes = next(numpy_stream(clip, lattice="uniform", lod=0, tokens=9)).patches
    floats = next(numpy_stream(clip, lattice="uniform", lod=0, tokens=9, dtype="f32")).patches
    assert np.abs(floats * 255 - codes).max() <= 0.5 + 1e-3
    mean, std = np.array([0.481, 0.457, 0.408]), np.array([0.268, 0.261, 0.275])  # OpenAI's CLIP, three digits
    normal = next(numpy_stream(clip, lattice="uniform", lod=0, tokens=9, dtype="f32", normalize="clip"))
    wanted = (floats - mean[:, None, None]) / std[:, None, None]
    np.testing.assert_allclose(normal.patches, wanted, atol=0.01)
    np.testing.assert_allclose([normal.mean, normal.std], [mean, std], atol=0.001)


def test_iterating_twice_gives_the_same_twice():
    stream = numpy_stream(every="frame")
    first, second = patches_of(stream), patches_of(stream)
    assert len(first) == len(second) == 40
    np.testing.assert_array_equal(first, second)


def test_end_stays_the_end_until_iterated_again():
    stream = numpy_stream()
    count = len(list(stream))
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(stream)
    assert len(list(stream)) == count


def test_unfinished_loop_goes_on_where_it_stopped_and_reopen_begins_again():
    stream = numpy_stream(every="frame")
    frames = []
    for emission in stream:
        frames.append(emission.frame)
        if len(frames) == 5:
            break
    frames += [emission.frame for emission in stream]
    assert frames == list(range(40))
    next(iter(stream))
    assert stream.reopen() is stream
    assert next(stream).frame == 0


def test_reopen_takes_another_source_with_the_same_settings(clip: Path):
    stream = numpy_stream(every=5)
    next(stream)
    other = [emission.frame for emission in stream.reopen(f"{BOX}&seed=1")]
    assert other == list(range(0, 40, 5))
    assert stream.reopen(clip).info.size == (720, 1280)


@pytest.mark.parametrize("n", [1, 7, 40, 100])
def test_batches_hold_the_emissions_in_order(n: int):
    wanted = list(numpy_stream(every="frame"))
    stream = numpy_stream(every="frame")
    batches = list(stream.batched(n))
    assert [len(batch) for batch in batches] == [n] * (40 // n) + ([40 % n] if 40 % n else [])
    for name in ("patches", "geometry", "changed"):
        mine = np.concatenate([getattr(batch, name) for batch in batches])
        np.testing.assert_array_equal(mine, [getattr(emission, name) for emission in wanted])
    assert [frame for batch in batches for frame in batch.frame] == list(range(40))
    assert [pts for batch in batches for pts in batch.pts_ns] == [emission.pts_ns for emission in wanted]
    assert [at for batch in batches for at in batch.fixation] == [emission.fixation for emission in wanted]
    assert np.shares_memory(batches[0][-1].patches, batches[0].patches)
    assert batches[0].positions("xyl").shape == (len(batches[0]), stream.geometry.patch_count, 3)


def test_batches_leave_the_last_one_out_where_asked_and_refuse_none():
    assert [len(batch) for batch in numpy_stream(every="frame").batched(16, drop_last=True)] == [16, 16]
    with pytest.raises(ValueError, match="batched: n is -?[0-9]+; the range is 1 to"):
        numpy_stream().batched(0)


def test_pickle_is_its_settings_and_opens_where_it_is_used(clip: Path):
    stream = numpy_stream(clip, every="frame", frames=8, tokens=120)
    next(stream)
    for other in (pickle.loads(pickle.dumps(stream)), copy.copy(stream)):
        assert "not opened yet" in repr(other)
        np.testing.assert_array_equal(
            patches_of(other), patches_of(numpy_stream(clip, every="frame", frames=8, tokens=120))
        )
    assert other.info == stream.info


@pytest.mark.parametrize("kind", ["a path", "file:", "pictures"])
def test_relative_path_is_of_the_folder_that_it_was_given_in(kind, ffmpeg, tmp_path: Path, monkeypatch):
    name = "%02d.png" if kind == "pictures" else "a.avi"
    for folder, color, size in (("here", "red", "64x48"), ("there", "blue", "96x80")):
        (tmp_path / folder).mkdir()
        graph = f"color={color}:size={size}:rate=5:duration=1"
        subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", graph, tmp_path / folder / name], check=True)
        (tmp_path / folder / "eye.csv").write_text("0,0.25,0.5\n" if folder == "here" else "0,0.75,0.5\n")
    monkeypatch.chdir(tmp_path / "here")
    options = {"fixation": "file:eye.csv", "tokens": 60, "levels": 3}
    source = {"a path": Path(name), "file:": f"file:{name}", "pictures": name}[kind]
    stream = numpy_stream(source, **options)
    first = list(stream)
    left, pickled = numpy_stream(source, **options), pickle.dumps(stream)
    next(left)
    monkeypatch.chdir(tmp_path / "there")
    left.reopen()
    for again in (stream, pickle.loads(pickled), copy.copy(stream), left):
        for emission, wanted in zip(again, first, strict=True):
            assert (emission.size, emission.fixation) == ((48, 64), (0.25, 0.5))
            np.testing.assert_array_equal(emission.patches, wanted.patches)


def test_look_decides_the_next_fixation_that_begins():
    stream = numpy_stream("test://box?size=640x480&frames=100&rate=25", fixation="center", lattice="grid")
    assert next(stream).fixation == (0.5, 0.5)
    stream.look(0.25, 0.75)
    assert next(stream).fixation == (0.25, 0.75)
    assert next(stream).fixation == (0.5, 0.5)
    for place in ((-0.1, 0.5), (0.5, 1.1), (float("nan"), 0)):
        with pytest.raises(ValueError, match=r"Stream.look: \(.*\) is outside the frame"):
            stream.look(*place)


def test_facts_are_those_of_ffprobe(clip: Path):
    shown = subprocess.run(
        [
            "ffprobe",
            "-v",
            "error",
            "-select_streams",
            "v:0",
            "-of",
            "default=nw=1:nk=0",
            "-show_entries",
            "stream=codec_name,width,height,pix_fmt,avg_frame_rate,nb_frames,duration",
            str(clip),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    facts = dict(line.split("=", 1) for line in shown.stdout.split())
    stream = numpy_stream(clip)
    info = stream.info
    assert (info.codec, info.size) == (facts["codec_name"], (int(facts["height"]), int(facts["width"])))
    assert (info.frame_count, info.live, stream.hwdec_reason) == (int(facts["nb_frames"]), False, "")
    assert info.duration_seconds == pytest.approx(float(facts["duration"]), abs=1e-6)
    assert facts["pix_fmt"] in repr(info)
    assert float(Fraction(facts["avg_frame_rate"])) in vars(info).values()
    assert stream.geometry.backend == "cpu"
    assert len(next(stream)) == stream.geometry.patch_count
    stream.close()
    assert stream.info is info  # facts stay known


def test_texture_holds_the_frame_of_the_last_emission(ffmpeg: str, clip: Path):
    stream = numpy_stream(clip, every="frame", frames=12)
    emission = [next(stream) for _ in range(10)][-1]
    command = [ffmpeg, "-v", "error", "-i", clip, "-frames:v", "10", "-pix_fmt", "gray", "-vf", "extractplanes=y"]
    raw = subprocess.run([*command, "-f", "rawvideo", "-"], capture_output=True, check=True).stdout
    luma = np.frombuffer(raw, np.uint8).reshape(-1, 720, 1280)[emission.frame]
    np.testing.assert_array_equal(stream.texture.level(0), luma)
    blocks = luma.reshape(90, 8, 160, 8).astype(np.int64).sum(axis=(1, 3))
    np.testing.assert_array_equal(stream.texture.level(3), (blocks + 32) >> 6)
    assert stream.texture.level(1, plane=1).shape == (180, 320, 2)
    assert (stream.texture.levels, stream.texture.planes, stream.texture.size) == (7, 2, (720, 1280))
    with pytest.raises(ValueError, match="there is no level 9"):
        stream.texture.level(9)


def test_counters_count(clip: Path):
    stream = numpy_stream(clip, every=2, frames=30)
    patches = sum(len(emission) for emission in stream)
    counters = stream.counters
    assert (counters.frames, counters.emissions, counters.patches, counters.truncated) == (30, 15, patches, False)


def test_close_is_final_until_reopened():
    stream = numpy_stream()
    kept = next(stream)
    with stream as same:
        assert same is stream
    stream.close()
    assert stream.closed
    assert "closed" in repr(stream)
    for use in (lambda: list(stream), lambda: stream.counters, lambda: stream.batched(2)):
        with pytest.raises(ValueError, match=r"Stream: it was closed; reopen\(\)"):
            use()
    assert kept.patches.any()
    assert next(stream.reopen()).frame == 0
    assert not stream.closed


def test_gl_backend_gives_patches_as_well(clip: Path):
    from conftest import skip_or_fail

    try:
        stream = numpy_stream(clip, backend="gl", frames=20)
    except sc.UnavailableError as error:
        skip_or_fail("gl", str(error))
    wanted = patches_of(numpy_stream(clip, frames=20))
    difference = np.abs(np.asarray(patches_of(stream), np.int16) - wanted)
    assert difference.max() <= 2
