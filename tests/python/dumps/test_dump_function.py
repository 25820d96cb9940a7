"""`dump()`: the program's very bytes; its errors as Python's; Ctrl-C ends it promptly."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import pysaccade as sc
from patience import wait_for

ARRAYS = ("patches", "geometry", "changed", "index")


def test_bytes_are_those_of_the_command_line(run_program, clip: Path, tmp_path: Path):
    run_program("dump", clip, "-o", tmp_path / "program", "--frames", 40, "--every", 10, "--tokens", 90, "--seed", 3)
    manifest = sc.dump(clip, tmp_path / "python", frames=40, every=10, tokens=90, seed=3)
    for name in ARRAYS:
        assert (tmp_path / f"python/{name}.npy").read_bytes() == (tmp_path / f"program/{name}.npy").read_bytes()
    meta = [json.loads((tmp_path / name / "meta.json").read_text()) for name in ("program", "python")]
    assert meta[0] == meta[1]
    assert manifest == json.loads((tmp_path / "python/manifest.json").read_text())
    assert manifest["frames"] == 40


def test_values_of_every_type(clip: Path, tmp_path: Path):
    sc.dump(
        str(clip), str(tmp_path / "d"), frames=np.array(20), start=np.array(0.5), loop=False, lattice="nested",
        strides=np.array([1, 2, 4]), grid_sizes=(4, 4, 4), dtype=np.float16, normalize=None, log_level="error",
    )  # fmt: skip
    options = sc.Dump(tmp_path / "d").meta["options"]
    assert {name: options[name] for name in ("start", "loop", "strides", "grid-sizes", "dtype", "normalize")} == {
        "start": "0.5", "loop": "false", "strides": "1,2,4", "grid-sizes": "4,4,4", "dtype": "f16", "normalize": "none",
    }  # fmt: skip


@pytest.mark.parametrize(
    "dtype", ["u8", "uint8", np.uint8, np.dtype("u1"), "f32", np.float32, np.dtype("<f4"), "float32"]
)
def test_dtypes_by_numpys_names(clip: Path, tmp_path: Path, dtype: object):
    sc.dump(clip, tmp_path / "d", frames=1, dtype=dtype)
    assert sc.Dump(tmp_path / "d").patches.dtype == {"u8": np.uint8, "f32": np.float32}.get(str(dtype), dtype)


@pytest.mark.torch
def test_dtypes_by_torchs_names(clip: Path, tmp_path: Path):
    import torch

    sc.dump(clip, tmp_path / "d", frames=1, dtype=torch.float16)
    assert sc.Dump(tmp_path / "d").patches.dtype == np.float16


def test_flags_are_true_and_false(clip: Path, tmp_path: Path):
    sc.dump(clip, tmp_path / "d", frames=10)
    with pytest.raises(
        ValueError, match=f"{tmp_path}/d: holds a complete dump; add overwrite=True to replace it, or resume=True"
    ):
        sc.dump(clip, tmp_path / "d", frames=10, overwrite=False)
    sc.dump(clip, tmp_path / "d", frames=20, overwrite=True)
    assert sc.dump(clip, tmp_path / "d", frames=20, resume=True)["frames"] == 20


def test_unknown_option_names_the_right_one(clip: Path, tmp_path: Path):
    with pytest.raises(TypeError, match="dump: unknown option tokns; did you mean tokens?"):
        sc.dump(clip, tmp_path / "d", tokns=3)
    with pytest.raises(TypeError, match="dump: .*against.*not an option of 'dump'"):
        sc.dump(clip, tmp_path / "d", against="x")
    for name in ("output", "json", "print_config", "progress"):
        with pytest.raises(TypeError, match=f"dump: option {name}: "):
            sc.dump(clip, tmp_path / "d", **{name: "x"})
    assert not (tmp_path / "d").exists()


def test_options_come_from_a_file_too(clip: Path, tmp_path: Path):
    (tmp_path / "run.toml").write_text("frames = 5\n")
    assert sc.dump(clip, tmp_path / "d", config=tmp_path / "run.toml")["frames"] == 5
    assert sc.dump(clip, tmp_path / "e", set=["frames=6", "seed=2"])["frames"] == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"patches": 0}, "patches: '0' is not a whole number from 1 to"),
        ({"lattice": "gridd"}, "lattice: 'gridd' is not nested, grid, uniform or adaptive"),
        ({"overwrite": 3}, "overwrite: '3' is not true or false"),
        ({"rate": "-x"}, "rate: '-x' is not a number"),
        ({"patch_size": [1, 2]}, "patch_size: '1,2' is not a whole number"),
        ({"upload": "pbo", "backend": "cpu"}, "upload=pbo: backend cpu uploads to no GPU"),
    ],
)
def test_wrong_value_is_a_value_error_in_pythons_words(
    clip: Path, tmp_path: Path, options: dict[str, object], words: str
):
    with pytest.raises(ValueError, match=words):
        sc.dump(clip, tmp_path / "d", **options)


@pytest.mark.parametrize("value", [object(), {}, np.zeros((1, 1)), b"x", 1j])
def test_value_of_no_type_that_an_option_has(clip: Path, tmp_path: Path, value: object):
    with pytest.raises(TypeError, match="dump: option patches is of type"):
        sc.dump(clip, tmp_path / "d", patches=value)


@pytest.mark.parametrize("source", [None, 3, ["a.mp4"], np.zeros((4, 4))])
def test_source_of_a_wrong_type(tmp_path: Path, source: object):
    with pytest.raises(TypeError, match="dump: source takes a path, not"):
        sc.dump(source, tmp_path / "d")  # type: ignore[arg-type]


def test_missing_source_is_an_input_error(tmp_path: Path):
    with pytest.raises(sc.InputError, match=f"^{tmp_path}/x.mp4: No such file or directory; check the name$"):
        sc.dump(tmp_path / "x.mp4", tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_names_that_look_like_options_or_commands_are_names(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("--version", "-x.mp4", "a b;touch $(x) 'q' \"r\"", "ü.mp4"):
        Path(name).symlink_to(clip)
        assert sc.dump(Path(name), f"out {name}", frames=2)["frames"] == 2
        assert len(sc.Dump(f"out {name}")) == 1
    with pytest.raises(ValueError, match="source is empty"):
        sc.dump("", "d")


def test_missing_device_is_an_unavailable_error(clip: Path, tmp_path: Path):
    with pytest.raises(sc.UnavailableError, match="backend=cuda: "):
        sc.dump(clip, tmp_path / "d", backend="cuda", device=7)


def test_missing_program_is_an_unavailable_error(clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SACCADE_PROGRAM", "/nowhere/saccade")
    with pytest.raises(sc.UnavailableError, match="SACCADE_PROGRAM=/nowhere/saccade: no such file"):
        sc.dump(clip, tmp_path / "d")


def test_folder_that_cannot_be_written_is_an_os_error(clip: Path):
    with pytest.raises(OSError, match="/proc/d: could not be made: .*choose another path"):
        sc.dump(clip, "/proc/d")


def test_damaged_input_is_kept_and_warned_of(clip: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(clip.read_bytes()[:300_000])
    with (
        caplog.at_level(logging.WARNING, "pysaccade"),
        pytest.warns(sc.DamagedInputWarning, match=f"{cut}: the input is damaged"),
    ):
        manifest = sc.dump(cut, tmp_path / "d")
    assert manifest["input_damaged"]
    assert len(sc.Dump(tmp_path / "d")) == manifest["emissions"]
    assert any("partial file" in record.message for record in caplog.records)


def test_stdin_is_a_source(ffmpeg: str, tmp_path: Path):
    code = f"import pysaccade as sc; print(sc.dump('-', {str(tmp_path / 'd')!r})['frames'])"
    video = subprocess.Popen(
        [ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-c:v", "ffv1", "-f", "nut", "-"],
        stdout=subprocess.PIPE,
    )
    done = subprocess.run([sys.executable, "-c", code], stdin=video.stdout, capture_output=True, text=True, check=False)
    video.communicate()
    assert done.stdout == "25\n", done.stderr


LONG = "lavfi:testsrc2=s=320x180:r=100"  # has no end


def emissions_so_far(folder: Path) -> int:
    try:
        return len(sc.Dump(folder, require_complete=False))
    except sc.InputError:
        return 0


@pytest.mark.parametrize("whole_group", [False, True], ids=["python alone", "the terminal's whole group"])
def test_interrupt_ends_it_promptly_and_keeps_what_came(tmp_path: Path, whole_group: bool):
    code = f"""if True:
        import pysaccade as sc
        try: sc.dump({LONG!r}, {str(tmp_path / "d")!r}, every="frame")
        except KeyboardInterrupt: print("interrupted", flush=True)"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        wait_for(lambda: emissions_so_far(tmp_path / "d") > 3, missing="the dump does not begin")
        begin = time.monotonic()
        (os.killpg if whole_group else os.kill)(child.pid, signal.SIGINT)
        assert child.communicate(timeout=30)[0] == "interrupted\n"
        assert time.monotonic() - begin < 15  # hangs otherwise: it has no end
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)  # else it would fill the disk
        raise
    with pytest.raises(sc.InputError, match="incomplete"):
        sc.Dump(tmp_path / "d")
    assert len(sc.Dump(tmp_path / "d", require_complete=False)) > 3
    with pytest.raises(ProcessLookupError):  # nothing of it runs on
        os.killpg(child.pid, 0)


def test_other_threads_run_meanwhile(clip: Path, tmp_path: Path):
    done: list[dict[str, object]] = []
    threads = [
        threading.Thread(target=lambda i=i: done.append(sc.dump(clip, tmp_path / str(i), frames=30))) for i in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [manifest["frames"] for manifest in done] == [30] * 3
    assert (tmp_path / "0/patches.npy").read_bytes() == (tmp_path / "2/patches.npy").read_bytes()


def test_program_that_is_killed_is_an_error(tmp_path: Path):
    fake = tmp_path / "saccade"
    fake.write_text("#!/bin/sh\nkill -SEGV $$\n")
    fake.chmod(0o755)
    code = """if True:
        import pysaccade as sc
        try: sc.dump("x", "y")
        except RuntimeError as error: print(error)"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SACCADE_PROGRAM": str(fake)},
    )
    assert done.stdout.startswith("dump: saccade was ended by SIGSEGV"), done.stderr


def test_python_dash_m_is_the_program(run_program, clip: Path):
    done = subprocess.run(
        [sys.executable, "-m", "pysaccade", "info", clip], capture_output=True, text=True, check=False
    )
    assert done.stdout == run_program("info", clip)
    assert (
        subprocess.run([sys.executable, "-m", "pysaccade", "--nope"], capture_output=True, check=False).returncode == 2
    )


def test_errors_survive_pickling():
    for error in (sc.InputError("a: b"), sc.UnavailableError("c")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
