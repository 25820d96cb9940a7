"""Arguments that can't be meant: each is a TypeError or ValueError in our own words, none of another library's."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc

BOX = "test://box?size=320x240&frames=8&rate=20"
NAN = float("nan")
SECRET = "hunter2"


def stream_of(source: object = BOX, **options: object) -> sc.Stream:
    return sc.Stream(source, **{"array": "numpy", "device": "cpu", **options})


def refused(error: type[Exception], text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    assert text in str(raised.value), str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("n", [2.5, "2", None, True, [2]])
def test_batched_takes_integers(n: object):
    refused(TypeError, "Stream.batched: n takes an integer, not", lambda: stream_of().batched(n))


@pytest.mark.parametrize("n", [0, -1, np.int64(0)])
def test_batched_takes_one_or_more(n: object):
    refused(ValueError, "Stream.batched: n is", lambda: stream_of().batched(n))
    assert len(next(stream_of(every="frame").batched(np.int64(2)))) == 2


@pytest.mark.parametrize("place", [("a", 0.5), (0.5, None), (1j, 0.5), ([0.5], 0.5), (np.zeros(2), 0.5), (True, 0.5)])
def test_look_takes_numbers(place: tuple[object, object]):
    refused(TypeError, "takes a number, not", lambda: stream_of().look(*place))


@pytest.mark.parametrize("path", [None, 3, 2.5, ["x"], object()])
def test_paths_are_paths(path: object, tmp_path: Path):
    refused(TypeError, "Dump: path takes a path, not", lambda: sc.Dump(path))
    refused(TypeError, "dump: source takes a path, not", lambda: sc.dump(path, tmp_path / "x"))
    refused(TypeError, "dump: path takes a path, not", lambda: sc.dump(BOX, path))
    refused(ValueError, "Dump: path is empty", lambda: sc.Dump(""))
    refused(ValueError, "Dump: path holds a zero character", lambda: sc.Dump("a\0b"))


@pytest.mark.parametrize("seconds", ["a", None, [1, 2], 1j])
def test_times_are_numbers(seconds: object, dumped: Path):
    dump = sc.Dump(dumped)
    refused(TypeError, "Dump.at: seconds takes a number", lambda: dump.at(seconds))
    if seconds is not None:
        refused(TypeError, "positions: t takes a number", lambda: dump[0].positions(t=seconds))


@pytest.mark.torch
@pytest.mark.parametrize(
    ("error", "text", "arguments"),
    [
        (TypeError, "dumps takes folders or Dumps, not NoneType", {"dumps": None}),
        (TypeError, "dumps takes folders or Dumps, not int", {"dumps": 3}),
        (TypeError, "path takes a path, not NoneType", {"dumps": [None]}),
        (TypeError, "clip takes an integer, not float 2.5", {"clip": 2.5}),
        (TypeError, "stride takes an integer, not str 'a'", {"stride": "a"}),
        (ValueError, "clip is 0", {"clip": 0}),
    ],
)
def test_dataset_takes_dumps_and_integers(error, text: str, arguments: dict, dumped: Path):
    refused(error, text, lambda: sc.DumpDataset(**{"dumps": dumped, **arguments}))
    refused(TypeError, "index takes an integer", lambda: sc.DumpDataset(dumped)["a"])


@pytest.mark.torch
@pytest.mark.parametrize(
    ("error", "text", "items"),
    [
        (TypeError, "items takes a list of items, not NoneType", None),
        (TypeError, "item 0 is no item", [1]),
        (TypeError, "item 0 is no item", [[1]]),
        (ValueError, "item 0 has no tensor 'patches'", [{}]),
        (ValueError, "item 0 has no tensor 'patches'", [{"patches": 3}]),
    ],
)
def test_collate_takes_items(error, text: str, items: object):
    refused(error, f"collate: {text}", lambda: sc.collate(items))


def test_paint_says_nothing_twice(dumped: Path):
    emission = sc.Dump(dumped)[0]
    for name, value in {
        "size": (10, 10),
        "plan": emission.geometry,
        "sar": 2.0,
        "mean": (0, 0, 0),
        "std": (1, 1, 1),
    }.items():
        refused(
            TypeError, f"paint: an Emission says its own {name}", lambda n=name, v=value: sc.paint(emission, **{n: v})
        )
    small = sc.paint(emission.patches, emission.geometry, (72, 128))
    assert small.shape == (72, 128, 3)  # of the size that was given
    for size in ("ab", None, 3, (0, 5), (3.5, 2)):
        with pytest.raises((TypeError, ValueError), match="paint: "):
            sc.paint(emission.patches, emission.geometry, size)
    refused(TypeError, "paint: width takes an integer", lambda: sc.paint(emission, width="a"))


@pytest.mark.parametrize("what", [None, 3, 2.5, [1], ["a"], [None]])
def test_show_takes_what_can_be_shown(what: object):
    refused(TypeError, "show: what ", lambda: sc.show(what))


# ---- tensors that hold nothing, or not at strides --------------------------------------------------------------------


def odd_tensors() -> dict[str, Any]:
    import torch

    image = torch.rand(3, 8, 8)
    return {
        "sparse_coo": image.to_sparse(),
        "sparse_csr": torch.eye(8).to_sparse_csr(),
        "mkldnn": image.to_mkldnn() if torch.backends.mkldnn.is_available() else image.to_sparse(),
        "nested": torch.nested.nested_tensor([image, image]),
    }


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["sparse_coo", "sparse_csr", "mkldnn", "nested"])
def test_tensors_without_strides_are_refused(kind: str):
    import torch

    odd, image = odd_tensors()[kind], torch.rand(3, 32, 32)
    sc.TexturePyramid(torch.rand(3, 8, 8))  # one of this shape was made before
    pyramid, lattice = sc.TexturePyramid(image, levels=3), sc.Lattice(size=(32, 32), tokens=20, levels=3)
    for call in (
        lambda: sc.generate_mipmaps(odd, 2),
        lambda: sc.TexturePyramid(odd),
        lambda: sc.sample(pyramid, odd),
        lambda: lattice.plan(odd),
        lambda: sc.mahalanobis(odd, odd, odd),
        lambda: stream_of().attend(odd),
        lambda: stream_of([odd]),
        lambda: sc.sample_patches(pyramid, lattice.plan((0.5, 0.5)), out=odd),
    ):
        refused(TypeError, " tensor; pass ", call)


@pytest.mark.torch
def test_meta_tensors_hold_nothing():
    import torch

    refused(TypeError, "which holds no numbers", lambda: stream_of().attend(torch.empty(3, 3, device="meta")))
    refused(TypeError, "which holds no numbers", lambda: stream_of(fixation=torch.empty(2, device="meta")))
    frame = torch.empty(3, 8, 8, dtype=torch.uint8, device="meta")
    refused(TypeError, "which holds no pixels", lambda: stream_of([frame]))


@pytest.mark.torch
@pytest.mark.parametrize("bad", [NAN, float("inf"), -float("inf")])
def test_fixations_are_finite(bad: float):
    import torch

    image = torch.rand(3, 64, 64)
    pyramid, lattice = sc.TexturePyramid(image), sc.Lattice(size=(64, 64), tokens=50)
    for one in (torch.tensor, np.array):
        for dtype in ("float32", "float64"):
            places = one([[0.5, 0.5], [bad, 0.5]], dtype=getattr(torch if one is torch.tensor else np, dtype))
            for snap in (True, False, "straight_through"):
                refused(ValueError, "fixation is not finite", lambda p=places, s=snap: lattice.plan(p, snap=s))
        refused(ValueError, "fixation is not finite", lambda p=places: sc.sample_foveated(pyramid, torch.as_tensor(p)))
        for fixation in (one([bad, 0.5]), one([[0.0, bad, 0.5]]), one([[bad, 0.5, 0.5]]), one([[0.5, bad]])):
            with pytest.raises(ValueError, match="Stream: fixation"):
                stream_of(fixation=fixation)


# ---- levels and memory -----------------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("level", [7, 99, -1, -0.5, 6.01, NAN, float("inf"), np.int64(99), np.float32(-1)])
@pytest.mark.parametrize("of", ["pyramid", "method", "list", "numpy"])
def test_level_is_one_of_the_pyramids(level: float, of: str):
    import torch

    image = torch.rand(3, 64, 64)
    centers = torch.tensor([[0.5, 0.5]])
    pyramid = sc.TexturePyramid(image, levels=7)
    call = {
        "pyramid": lambda: sc.sample_at_level(pyramid, level, centers),
        "method": lambda: pyramid.sample_at_level(level, centers),
        "list": lambda: sc.sample_at_level(sc.generate_mipmaps(image, 7), level, centers),
        "numpy": lambda: sc.sample_at_level(sc.TexturePyramid(image.numpy(), levels=7), level, centers.numpy()),
    }[of]
    refused(ValueError, "the pyramid has levels 0 to 6", call)
    assert sc.sample_at_level(pyramid, np.float32(5.5), centers).shape == (1, 3, 16, 16)


def planned(kind: str) -> tuple[Any, Any, Any]:
    """(image, pyramid, plan) of 28 patches, of torch or NumPy."""
    image = np.random.default_rng(1).random((3, 64, 64), np.float32)
    fixation: Any = np.array([0.5, 0.5], np.float32)
    if kind == "torch":
        import torch

        image, fixation = torch.from_numpy(image), torch.from_numpy(fixation)
    return image, sc.TexturePyramid(image), sc.Lattice(size=(64, 64), tokens=50).plan(fixation)


@pytest.mark.parametrize("kind", ["numpy", pytest.param("torch", marks=pytest.mark.torch)])
def test_out_that_shares_memory_is_refused(kind: str):
    image, pyramid, plan = planned(kind)
    wanted = sc.sample_patches(pyramid, plan)
    shape = tuple(wanted.shape)
    count = int(np.prod(shape))

    if kind == "torch":
        import torch

        repeated = torch.zeros(1, *shape[1:]).expand(shape)
        sliding = torch.zeros(count).as_strided(shape, (1, *repeated.stride()[1:]))
        big = torch.zeros(count + 3 * 64 * 64)
        mine = big[: 3 * 64 * 64].view(3, 64, 64)
        good = big[3 * 64 * 64 :].view(shape)
        near = big[3 * 64 * 64 - 1 : -1].view(shape)
    else:
        repeated = np.lib.stride_tricks.as_strided(np.zeros(shape[1:], np.float32), shape, (0, *wanted.strides[1:]))
        sliding = np.lib.stride_tricks.as_strided(np.zeros(count, np.float32), shape, (4, *wanted.strides[1:]))
        big = np.zeros(count + 3 * 64 * 64, np.float32)
        mine = big[: 3 * 64 * 64].reshape(3, 64, 64)
        good = big[3 * 64 * 64 :].reshape(shape)
        near = big[3 * 64 * 64 - 1 : -1].reshape(shape)
    for out in (repeated, sliding):
        refused(
            ValueError, "out shares memory between its elements", lambda o=out: sc.sample_patches(pyramid, plan, out=o)
        )
    mine[:] = image
    for levels in (sc.TexturePyramid(mine), sc.generate_mipmaps(mine, 5)):
        refused(ValueError, "out shares memory with", lambda p=levels: sc.sample_patches(p, plan, out=near))
        written = sc.sample_patches(levels, plan, out=good)
        assert written is good
    assert bool((sc.sample_patches(sc.TexturePyramid(mine), plan, out=good) == wanted).all())


# ---- secrets ---------------------------------------------------------------------------------------------------------

URLS = [
    f"rtsp://user:{SECRET}@127.0.0.1:1/x",
    f"http://127.0.0.1:1/x.mp4?token={SECRET}",
    f"user:{SECRET}@127.0.0.1",
    f"lavfi:movie=http\\://u\\:{SECRET}@h/x",
    f"https://127.0.0.1:1/{SECRET}.m3u8;key={SECRET}",
]


@pytest.mark.parametrize("url", URLS)
def test_what_is_shown_of_a_stream_holds_no_secret(url: str, caplog: pytest.LogCaptureFixture):
    settings = pickle.dumps(stream_of(BOX, allow_network=True))
    unopened = pickle.loads(settings)
    make, (kind, _, options) = unopened.__reduce__()[:2]
    stream = make(kind, url, {**options, "open_timeout": 2})  # as unpickled: not opened yet
    assert SECRET not in repr(stream)
    assert pickle.loads(pickle.dumps(stream)).__reduce__()[1][1] == url  # but kept
    if "127.0.0.1:1/" in url and "key=" not in url:  # nobody listens there
        with pytest.raises(sc.InputError) as raised:
            next(stream)
        assert SECRET not in str(raised.value) + repr(raised.value) + repr(stream)
    assert SECRET not in caplog.text


@pytest.mark.torch
@pytest.mark.parametrize(
    "url",
    [
        f"memory://key:{SECRET}@bucket/store",
        f"memory://bucket/store?X-Amz-Signature={SECRET}",
        f"memory://key:{SECRET}/with/slashes@bucket/store",
        f"nosuchkind://key:{SECRET}@bucket/store",
    ],
)
def test_what_is_shown_of_a_bucket_holds_no_secret(url: str):
    with pytest.raises((sc.InputError, sc.UnavailableError)) as raised:
        sc.open_shards(url)
    assert SECRET not in str(raised.value) + repr(raised.value)
    assert "bucket/store" in str(raised.value)


def test_a_name_that_holds_a_zero_is_not_repeated():
    with pytest.raises(ValueError, match="zero character") as raised:
        stream_of(f"rtsp://u:{SECRET}@h/\0")
    assert SECRET not in str(raised.value)


def test_names_of_files_are_shown(clip: Path):
    assert "demo.mp4" in repr(stream_of(clip))
    assert "demo.mp4" in repr(pickle.loads(pickle.dumps(stream_of(clip))))


# ---- a Stream's forms for the program --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fixation",
    [(0.25, 0.75), [0.25, 0.75], np.array([[0, 0.25, 0.75], [0.1, 0.5, 0.5]]), [[0.1, 0.9], [0.9, 0.1], [0.3, 0.3]]],
    ids=["place", "list", "scanpath", "places"],
)
def test_dump_takes_a_streams_places(fixation: Any, tmp_path: Path):
    options = {"every": "frame", "rate": 8}
    sc.dump(BOX, tmp_path / "dump", device="cpu", fixation=fixation, **options)
    for mine, wanted in zip(sc.Dump(tmp_path / "dump"), stream_of(fixation=fixation, **options), strict=True):
        assert mine.fixation == wanted.fixation
        assert mine.patches.tobytes() == wanted.patches.tobytes()


@pytest.mark.torch
def test_dump_takes_a_streams_devices_and_tensors(tmp_path: Path):
    import torch

    for number, device in enumerate(("cpu", "auto", torch.device("cpu"))):
        sc.dump(BOX, tmp_path / str(number), device=device, fixation=torch.tensor([0.5, 0.25]))
    assert sc.Dump(tmp_path / "0")[0].fixation == (0.5, 0.25)
    assert sc.Dump(tmp_path / "0").meta["options"]["backend"] == "cpu"


@pytest.mark.parametrize(
    ("error", "text", "options"),
    [
        (ValueError, "dump: device is 'auto', 'cpu', 'cuda' or 'cuda:N', not 'gpu'", {"device": "gpu"}),
        (ValueError, "dump: device='cpu' conflicts with backend='cuda'", {"device": "cpu", "backend": "cuda"}),
        (TypeError, "dump: a callable fixation", {"fixation": lambda stream: (0.5, 0.5)}),
        (ValueError, "dump: fixation: a scanpath is", {"fixation": np.zeros((2, 5))}),
        (ValueError, "dump: fixation: the scanpath holds no place", {"fixation": np.zeros((0, 3))}),
        (TypeError, "dump: fixation takes numbers", {"fixation": ("a", "b")}),
    ],
)
def test_dump_refuses_what_a_stream_refuses(error, text: str, options: dict, tmp_path: Path):
    refused(error, text, lambda: sc.dump(BOX, tmp_path / "x", **options))
    assert not (tmp_path / "x").exists()


def test_dump_of_the_same_places_is_resumed(tmp_path: Path):
    places = np.array([[0, 0.25, 0.75], [0.1, 0.5, 0.5]])
    sc.dump(BOX, tmp_path / "dump", fixation=places)
    before = (tmp_path / "dump" / "meta.json").stat().st_mtime_ns
    sc.dump(BOX, tmp_path / "dump", fixation=places, resume=True)
    assert (tmp_path / "dump" / "meta.json").stat().st_mtime_ns == before
    refused(ValueError, "another", lambda: sc.dump(BOX, tmp_path / "dump", fixation=places * 0.5, resume=True))


def test_dump_reads_the_video_from_stdin_and_places_from_memory(clip: Path, tmp_path: Path):
    script = "import sys, pysaccade as sc; sc.dump('-', sys.argv[1], fixation=[[0, 0.25, 0.75], [0.5, 0.5, 0.5]])"
    with clip.open("rb") as video:
        subprocess.run([sys.executable, "-c", script, str(tmp_path / "dump")], stdin=video, check=True)
    dump = sc.Dump(tmp_path / "dump")
    assert dump[0].fixation == (0.25, 0.75)
    assert len(dump) > 1


@pytest.mark.parametrize(
    "value", [["rtsp://u:hunter2@h/x"], {"url": "rtsp://u:hunter2@h/x"}, b"http://h/?token=hunter2"]
)
def test_values_of_a_wrong_type_show_no_secret(value: object, tmp_path: Path):
    for call in (
        lambda: sc.dump(value if not isinstance(value, bytes) else [value], tmp_path / "x"),
        lambda: sc.dump(BOX, [value]),
        lambda: sc.Dump([value]),
        lambda: sc.DumpDataset(5 if isinstance(value, bytes) else [[value]]),
        lambda: stream_of(tokens=value),
        lambda: stream_of(hwdec=value),
        lambda: stream_of(rate=value),
        lambda: stream_of(prefetch=value),
        lambda: stream_of(fixation=value),
        lambda: stream_of(dtype=value),
        lambda: stream_of(device=value),
        lambda: stream_of(normalize=value),
        lambda: stream_of(array=value),
    ):
        with pytest.raises((TypeError, ValueError, OSError)) as raised:
            call()
        assert SECRET not in str(raised.value)
