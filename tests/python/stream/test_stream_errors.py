"""What is wrong is said in one line that names the argument, what came, and what to write."""

from __future__ import annotations

import io
import logging
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pysaccade as sc
from broken_web import Break, WebServer
from stream_support import run_python

# Options that leave with the next version still work.
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves with the next version:DeprecationWarning")

BOX = "test://box?size=64x64&frames=5"


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"tokns": 100}, TypeError, r"unknown option 'tokns'; did you mean 'tokens'\?"),
        ({"patchsize": 100}, TypeError, r"unknown option 'patchsize'; did you mean 'patch_size'\?"),
        ({"inputformat": "h264"}, TypeError, r"did you mean 'input_format'\?"),
        ({"patch-size": 16}, TypeError, r"unknown option 'patch-size'; did you mean 'patch_size'\?"),
        ({"devise": "cpu"}, TypeError, r"unknown option 'devise'; did you mean 'device'\?"),
        ({"min_pixels": 3}, TypeError, "unknown option 'min_pixels'; it is called 'min_samples' now"),
        ({"arrays": "numpy"}, TypeError, r"unknown option 'arrays'; did you mean 'array'\?"),
        ({"output": "out/x"}, TypeError, "unknown option 'output'"),
        ({"xyzzy_plugh": 1}, TypeError, "unknown option 'xyzzy_plugh'; docs/OPTIONS.md lists"),
        ({"tokens": 0}, ValueError, "tokens: '0' is not a whole number from 1"),
        ({"tokens": "many"}, ValueError, "tokens: 'many' is not a whole number"),
        ({"tokens": 1.5}, ValueError, "tokens: '1.5' is not a whole number"),
        ({"tokens": [3]}, TypeError, "tokens takes an integer, not list"),
        ({"tokens": True}, TypeError, "tokens takes an integer, not bool"),
        ({"lattice": "nestd"}, ValueError, "lattice: 'nestd' is not nested, grid, uniform or adaptive"),
        ({"lattice": 3}, TypeError, "lattice takes one of nested, grid, uniform, adaptive, not int"),
        ({"rate": float("nan")}, ValueError, "rate: 'nan'"),
        ({"rate": "fast"}, ValueError, "rate: 'fast' is not a number"),
        ({"every": "second"}, ValueError, "every: 'second' is not"),
        ({"require_hwdec": 1}, TypeError, "require_hwdec takes True or False, not int"),
        ({"vf": "scale\0=3"}, ValueError, "vf holds a zero character"),
        ({"vf": object()}, TypeError, "vf takes a text, not object"),
        ({"fixation": "centre"}, ValueError, "fixation.*centre"),
        ({"fixation": (2, 0.5)}, ValueError, "center:U,V with both from 0 to 1"),
        ({"fixation": {"u": 1}}, TypeError, "fixation takes numbers, not dict"),
        ({"lattice": "nested", "tokens": 100, "e0": 2}, ValueError, "tokens: conflicts with e0"),
        ({"lattice": "adaptive", "preset": "uv"}, ValueError, "preset: needs lattice nested or grid"),
        ({"lattice": "adaptive", "fovea": 64}, ValueError, "fovea: needs lattice nested"),
        ({"lattice": "nested", "strides": [1, 2]}, ValueError, "grid_sizes"),
        ({"lod": 1}, ValueError, "lod"),
        ({"dtype": "bfloat16"}, ValueError, "dtype is uint8, float16 or float32, not bfloat16; take float32"),
        ({"dtype": "float64"}, ValueError, "not float64"),
        ({"dtype": 3}, TypeError, "dtype takes uint8, float16 or float32, not 3"),
        ({"normalize": "clip"}, ValueError, "normalize needs samples that can be negative; pass dtype"),
        ({"normalize": "klip", "dtype": "f32"}, ValueError, "'klip' is not none, clip, imagenet, siglip"),
        ({"normalize": 0.5, "dtype": "f32"}, TypeError, "normalize takes None"),
        ({"device": "tpu"}, ValueError, "device is 'auto', 'cpu', 'cuda' or 'cuda:N', not 'tpu'"),
        ({"device": "cuda:x"}, ValueError, "not 'cuda:x'"),
        ({"device": 1.5}, TypeError, "device takes 'auto', 'cpu'"),
        ({"device": "cuda", "array": "numpy"}, ValueError, "NumPy's arrays can't lie on device='cuda'"),
        ({"array": "jax"}, ValueError, "array is 'auto', 'torch' or 'numpy', not 'jax'"),
        ({"backend": "vulkan"}, ValueError, "backend: 'vulkan' is not auto, cpu, gl or cuda"),
        ({"backend": ["cpu"]}, TypeError, "backend takes one of"),
        ({"backend": "cpu", "device": 1.0}, TypeError, "device takes"),
        ({"live_policy": "newest"}, ValueError, "live_policy: 'newest' is not"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_option_is_refused_in_one_line(options: dict, kind: type, text: str):
    with pytest.raises(kind, match=r"(?s)^Stream: .*" + text) as caught:
        sc.Stream(BOX, **{"array": "numpy", **options})
    assert "\n" not in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("nowhere.mp4", sc.InputError, "nowhere.mp4: No such file"),
        ("", ValueError, "source is empty"),
        ("a\0b.mp4", ValueError, "source holds a zero character"),
        (0, TypeError, "a camera is '/dev/video0'"),
        (None, TypeError, "source takes a path"),
        (io.BytesIO(b"\0" * 9), TypeError, "bytes of a BytesIO; pass the path"),
        (bytearray(b"ftyp"), TypeError, "bytes of a bytearray; pass the path"),
        (b"\0\0\0\x20ftypisom", ValueError, "the bytes of a file; write them to a file and pass its path"),
        ("test://nothing", ValueError, "no test pattern .nothing."),
        ("rtsp://127.0.0.1:1/x", sc.InputError, "rtsp://127.0.0.1:1/x"),
        (Path(__file__), sc.InputError, "test_stream_errors.py: not a video"),
        (Path(__file__).parent, sc.InputError, "irectory"),
    ],
    ids=str,
)
def test_wrong_source_is_refused_in_one_line(source: object, kind: type, text: str):
    with pytest.raises(kind, match=text) as caught:
        sc.Stream(source, array="numpy")
    assert "\n" not in str(caught.value)


def test_advice_names_options_as_python_has_them(clip: Path):
    with pytest.raises(sc.InputError, match="max_pixels") as caught:
        sc.Stream(clip, array="numpy", max_pixels=1000)
    assert "max-pixels" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lattice": "nested", "tokens": 2}, "{clip}: tokens=2: a nested lattice over"),
        ({"lattice": "nested", "tokens": 2, "patch_size": 8}, "{clip}: tokens=2: "),
        ({"lattice": "adaptive", "patch_size": 8}, "{clip}: patch_size=8: squares of lattice adaptive"),
        ({"lattice": "nested", "tokens": 1}, "{clip}: tokens=1: a nested lattice over"),
        ({"ignore": "9000,9000,2,2"}, "{clip}: ignore=9000,9000,2,2: lies outside the frame"),
        ({"lattice": "nested", "strides": [3], "grid_sizes": [4]}, "{clip}: strides: 3 at place 1 must be"),
        ({"lattice": "nested", "strides": [1, 2], "grid_sizes": [4, 3]}, "{clip}: grid_sizes: 3 at place 2"),
        ({"lattice": "uniform", "lod": 12, "levels": 3}, "{clip}: lod=12: the pyramid has 3 levels"),
    ],
    ids=str,
)
def test_option_is_named_as_it_was_passed_when_the_input_shows_that_it_is_wrong(
    clip: Path, tmp_path: Path, options: dict, said: str
):
    line = said.format(clip=clip)
    with pytest.raises(ValueError, match=re.escape(line)) as caught:
        sc.Stream(clip, array="numpy", device="cpu", **options)
    assert "--" not in str(caught.value)
    with pytest.raises(ValueError, match=re.escape(line)) as caught:
        sc.dump(clip, tmp_path / "d", device="cpu", **options)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"vf": "nosuch"}, ValueError, "vf='nosuch': No such filter"),
        ({"vf": "select=0"}, sc.InputError, "demo.mp4: vf='select=0': the filters let no frame through"),
        ({"stream": 7}, sc.InputError, "demo.mp4: stream=7: there is no video stream 7"),
        ({"start": 100}, sc.InputError, "demo.mp4: start=100: no frame lies"),
        ({"max_pixels": 9}, sc.InputError, "demo.mp4: max_pixels=9: "),
        ({"input_size": "64x64"}, ValueError, "demo.mp4: input_size='64x64': "),
        ({"fixation": "file:/no/such.csv"}, sc.InputError, "demo.mp4: fixation=file:/no/such.csv: cannot read"),
        (
            {"lattice": "nested", "strides": [1, 2], "grid_sizes": [4, 4], "e0": 2.0},
            ValueError,
            "e0: conflicts with strides: ",
        ),
        ({"noise_floor": 3, "fixation": "center"}, ValueError, "noise_floor: only fixation novelty"),
        ({"rtsp_transport": "udp"}, ValueError, "rtsp_transport: only rtsp://"),
    ],
)
def test_option_is_named_whenever_it_proves_wrong(options: dict, kind: type, text: str, clip: Path):
    with pytest.raises(kind, match=re.escape(text)):
        sc.Stream(clip, device="cpu", **options)


@pytest.mark.parametrize("settings", [{"device": "cpu"}, {"backend": "cpu"}, {"backend": "cpu", "hwdec": "no"}])
def test_current_device_of_torch_is_no_option_of_a_stream_on_the_cpu(settings: dict, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pysaccade._native._arrays.current_cuda_index", lambda place: 1)
    with sc.Stream(BOX, array="numpy", **settings) as stream:
        assert stream.geometry.backend == "cpu"


def test_texture_before_the_first_frame_is_refused():
    with sc.Stream(BOX, device="cpu") as stream:
        with pytest.raises(ValueError, match=r"^Stream\.texture: no frame was taken yet"):
            stream.texture.level(0)
        next(stream)
        assert stream.texture.level(0).any()


def test_a_file_that_is_named_like_an_option_keeps_its_name(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("patch-size 3").symlink_to(clip)
    with pytest.raises(ValueError, match=r"patch-size 3: tokens=2: a nested"):
        sc.Stream("patch-size 3", array="numpy", lattice="nested", tokens=2)


def test_video_that_breaks_says_so_after_what_it_had(clip: Path, tmp_path: Path):
    path = tmp_path / "cut.mp4"
    path.write_bytes(clip.read_bytes()[:-200_000])  # the index lies in front, the last frames are gone
    stream = sc.Stream(path, array="numpy", every="frame")
    frames = sum(1 for _ in stream)
    assert 0 < frames < 350
    assert stream.counters.truncated


def test_lost_connection_is_an_error_after_what_it_had(clip: Path):
    whole = clip.read_bytes()
    server = WebServer({"a.mp4": whole}, lambda *_: Break(len(whole) - 200_000), ranges=False)
    stream = sc.Stream(server.url("a.mp4"), array="numpy", every="frame")
    with pytest.raises(sc.InputError, match="lost connection: the answer ended at byte"):
        list(stream)
    server.stop()
    assert 0 < stream.counters.frames < 350
    assert stream.counters.truncated


def test_failed_reopen_can_be_opened_again(clip: Path):
    stream = sc.Stream(BOX, array="numpy")
    with pytest.raises(sc.InputError):
        stream.reopen("nowhere.mp4")
    assert next(stream.reopen(clip)).size == (720, 1280)


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("wrong", ["/nowhere.mp4", "", 5, [np.zeros(5, np.uint8)]], ids=str)
def test_failed_reopen_keeps_the_source_it_had(prefetch: int, wrong: object):
    stream = sc.Stream(BOX, array="numpy", every="frame", prefetch=prefetch)
    next(stream)
    with pytest.raises((OSError, ValueError, TypeError)):
        stream.reopen(wrong)
    assert (stream.closed, stream.info.size) == (False, (64, 64))
    assert next(stream).size == (64, 64)
    assert [emission.frame for emission in stream.reopen()] == [0, 1, 2, 3, 4]


def test_failed_reopen_of_a_closed_stream_leaves_it_closed():
    stream = sc.Stream(BOX, array="numpy")
    stream.close()
    with pytest.raises(sc.InputError):
        stream.reopen("/nowhere.mp4")
    assert stream.closed
    assert next(stream.reopen()).frame == 0


def test_open_file_is_refused_with_its_path(clip: Path):
    with clip.open("rb") as file, pytest.raises(TypeError, match=f"pass the path: '{clip}'"):
        sc.Stream(file, array="numpy")


def test_names_of_the_c_library_stay_inside():
    stream = sc.Stream(BOX, array="numpy", backend="cpu")
    wrong = [
        lambda: stream.attend(np.zeros((0, 3))),
        lambda: stream.attend(np.zeros((2, 2)), (0.5, 0, 0.5, 1)),
        lambda: stream.texture.level(99),
        lambda: sc.Stream([np.zeros((10, 0, 3), np.uint8)], array="numpy"),
        lambda: sc.Stream([np.zeros((0, 10), np.uint8)], array="numpy"),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match=r"^Stream") as caught:
            call()
        assert "saccade_" not in str(caught.value)


def test_messages_of_the_library_go_to_logging(caplog: pytest.LogCaptureFixture, ffmpeg: str, tmp_path: Path):
    """Walls of text on stderr: torchcodec 762, 1046."""
    path = tmp_path / "damaged.h264"
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240", "-t", "2", path], check=True)
    data = bytearray(path.read_bytes())
    generator = np.random.default_rng(1)
    for at in generator.integers(len(data) // 3, len(data), 60):
        data[at] ^= 0x55
    path.write_bytes(data)
    with caplog.at_level(logging.DEBUG, logger="pysaccade"):
        for _ in sc.Stream(path, array="numpy", every="frame"):
            pass
    assert {record.name for record in caplog.records} == {"pysaccade"}
    assert any("h264" in record.getMessage() for record in caplog.records)
    done = run_python(
        """
        import logging, sys
        import pysaccade as sc
        logging.getLogger("pysaccade").setLevel(logging.CRITICAL)
        print(sum(1 for _ in sc.Stream(sys.argv[1], array="numpy")))
        """,
        path,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_stream_works_without_torch_and_says_so_where_torch_is_asked_for(clip: Path):
    done = run_python(
        """
        import sys
        sys.modules["torch"] = None
        import pysaccade as sc
        print(type(next(sc.Stream(sys.argv[1])).patches).__name__)
        for options in ({"array": "torch"}, {"device": "cuda"}):
            try:
                sc.Stream(sys.argv[1], **options)
            except sc.UnavailableError as error:
                print(error)
        """,
        clip,
    )
    lines = done.stdout.splitlines()
    assert (done.stderr, lines[0], len(lines)) == ("", "ndarray", 3)
    assert all("install torch" in line for line in lines[1:])
