"""`Dump`: the same numbers as numpy.load gives, memory-mapped; clear words for what is no dump, torn or incomplete."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pysaccade as sc

ARRAYS = ("patches", "geometry", "changed", "index")


def edit_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_arrays_are_those_of_numpy_load(dumped: Path):
    dump = sc.Dump(dumped)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(dump, name), np.load(dumped / f"{name}.npy"))
    assert dump.live is None
    assert dump.meta == json.loads((dumped / "meta.json").read_text())
    assert dump.manifest == json.loads((dumped / "manifest.json").read_text())
    assert (dump.complete, dump.size) == (True, (720, 1280))


def test_each_emission_is_a_row_of_the_arrays(dumped: Path):
    dump, index = sc.Dump(str(dumped)), np.load(dumped / "index.npy")
    assert len(dump) == len(index) > 3
    for emission, patches, geometry, changed, row in zip(
        dump, *(np.load(dumped / f"{name}.npy") for name in ARRAYS), strict=True
    ):
        np.testing.assert_array_equal(emission.patches, patches)
        np.testing.assert_array_equal(emission.geometry, geometry)
        np.testing.assert_array_equal(emission.changed, changed == 1)
        assert emission.changed.dtype == np.bool_
        assert (emission.frame, emission.pts_ns, *emission.fixation) == tuple(row)[:4]
        assert (emission.in_flight, emission.damaged_tiles) == (bool(row["in_flight"]), row["damaged_tiles"])
        assert (emission.size, emission.sar, emission.gaps, emission.age_seconds) == ((720, 1280), 1.0, 0, 0.0)


@pytest.mark.parametrize("i", [0, -1, 3, np.int64(2), np.uint8(1), True])
def test_integers_of_every_kind_index_it(dumped: Path, i: int):
    np.testing.assert_array_equal(sc.Dump(dumped)[i].patches, np.load(dumped / "patches.npy")[int(i)])


def test_index_beyond_the_end_is_an_index_error(dumped: Path):
    dump = sc.Dump(dumped)
    for i in (len(dump), -len(dump) - 1):
        with pytest.raises(IndexError, match=rf"{dumped}: emission {i} of {len(dump)}"):
            dump[i]


@pytest.mark.parametrize("key", [1.0, "0", None, (0, 1), [0]])
def test_other_keys_are_a_type_error(dumped: Path, key: object):
    with pytest.raises(TypeError, match="indexed by integers and slices"):
        sc.Dump(dumped)[key]  # type: ignore[index]


slices = st.builds(slice, *[st.none() | st.integers(-20, 20)] * 2, st.none() | st.integers(1, 4))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(outer=slices, inner=slices)
def test_slices_of_slices_are_numpys_and_survive_pickling(dumped: Path, outer: slice, inner: slice):
    frames = np.load(dumped / "index.npy")["frame"][outer][inner]
    part = sc.Dump(dumped)[outer][inner]
    for one in (part, pickle.loads(pickle.dumps(part))):
        assert [emission.frame for emission in one] == frames.tolist()
        assert len(one) == len(frames) == len(one.patches) == len(one.pts_seconds)


def test_backward_slices_are_refused(dumped: Path):
    with pytest.raises(ValueError, match=re.escape("d[a:b:-1]: time rises in a Dump")):
        sc.Dump(dumped)[::-1]


def test_at_gives_the_last_emission_that_was_not_later(dumped: Path):
    dump = sc.Dump(dumped)
    times = np.load(dumped / "index.npy")["pts_ns"] / 1e9
    assert dump.pts_seconds.tolist() == times.tolist()
    for i, seconds in enumerate(times):
        assert dump.at(seconds).frame == dump[i].frame
        assert dump.at(np.nextafter(seconds, np.inf)).frame == dump[i].frame
        if i > 0:
            assert dump.at(np.nextafter(seconds, -np.inf)).frame == dump[i - 1].frame
    assert dump.at(1e9).frame == dump[-1].frame
    for wrong in (np.nextafter(times[0], -np.inf), float("nan")):
        with pytest.raises(ValueError, match=r"at\(.*\): the first emission is at 0\.000 s"):
            dump.at(wrong)


def test_arrays_are_read_only_and_files_never_change(copy: Path):
    before = (copy / "patches.npy").read_bytes()
    dump = sc.Dump(copy)
    for array in (dump.patches, dump.geometry, dump.changed, dump.index, dump[0].patches, dump[1:3].geometry):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    forced = dump.patches
    forced.flags.writeable = True  # a copy of one's own
    forced[:] = 77
    assert (copy / "patches.npy").read_bytes() == before


def test_opening_a_large_dump_reads_none_of_its_samples(copy: Path):
    rows = sc.Dump(copy).manifest["emissions"]  # type: ignore[index]
    many = 2_000_000  # 330 GB of holes
    for name in ARRAYS:
        array = np.load(copy / f"{name}.npy", mmap_mode="r")
        header = {"descr": array.dtype.descr if array.dtype.names else array.dtype.str, "fortran_order": False}
        with (copy / f"{name}.npy").open("wb") as file:
            np.lib.format.write_array_header_1_0(file, {**header, "shape": (many, *array.shape[1:])})
            file.truncate(file.tell() + many * (array.nbytes // rows))
    edit_json(copy / "manifest.json", emissions=many)
    code = f"""if True:
        import re, pysaccade as sc
        dump = sc.Dump({str(copy)!r})
        for i in range(0, {many}, {many} // 50):
            dump.patches[i].sum()
        most_kib = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]  # ru_maxrss is also the parent's
        print(len(dump), most_kib)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, most_kib = map(int, done.stdout.split())
    assert count == many
    assert most_kib < 200_000


def test_thousands_of_dumps_are_open_at_once_without_a_descriptor(dumped: Path):
    gc.collect()  # what other tests left may close its own
    before = len(os.listdir("/proc/self/fd"))
    dumps = [sc.Dump(dumped) for _ in range(1500)]
    assert len(os.listdir("/proc/self/fd")) <= before
    assert dumps[-1][0].patches.shape == dumps[0][0].patches.shape


def maps_of(folder: Path) -> int:
    return Path("/proc/self/maps").read_text().count(f"{folder}/")


def test_memory_is_given_back_with_the_last_array(copy: Path):
    dump = sc.Dump(copy)
    patches, first = dump.patches[3:5], dump.patches[3].copy()
    assert maps_of(copy) == len(ARRAYS)
    del dump
    assert maps_of(copy) == 1
    np.testing.assert_array_equal(patches[0], first)
    del patches
    assert maps_of(copy) == 0


def test_pickle_holds_the_path_not_the_samples(dumped: Path):
    data = pickle.dumps(sc.Dump(dumped))
    assert len(data) < 1000
    np.testing.assert_array_equal(pickle.loads(data).patches, np.load(dumped / "patches.npy"))


def test_pickle_of_a_relative_path_opens_in_another_folder(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(copy.parent)
    dump = sc.Dump(copy.name)
    monkeypatch.chdir("/")
    assert len(pickle.loads(pickle.dumps(dump))) == len(dump)


def test_samples_of_every_type_and_their_normalisation(run_program, clip: Path, tmp_path: Path):
    for dtype, name in (("f16", np.float16), ("f32", np.float32)):
        folder = tmp_path / dtype
        run_program("dump", clip, "-o", folder, "--frames", 30, "--dtype", dtype, "--normalize", "clip")
        dump = sc.Dump(folder)
        assert dump.patches.dtype == name
        np.testing.assert_array_equal(dump.patches, np.load(folder / "patches.npy"))
        assert dump[0].mean == pytest.approx((0.48145466, 0.4578275, 0.40821073))
        assert dump[0].std == pytest.approx((0.26862954, 0.26130258, 0.27577711))


def make_live(folder: Path) -> np.ndarray:
    """Turn a dump into one of a live source, as docs/DUMPS.md describes it."""
    meta = json.loads((folder / "meta.json").read_text())
    meta["stream"]["live"] = True
    (folder / "meta.json").write_text(json.dumps(meta))
    rows = len(np.load(folder / "index.npy"))
    live = np.zeros(rows, [("captured_unix_ns", "<i8"), ("age_ns", "<i8"), ("gaps", "<i4")])
    live["captured_unix_ns"], live["age_ns"], live["gaps"] = 10**18 + np.arange(rows), 25_000_000, np.arange(rows) // 5
    np.save(folder / "live.npy", live)
    return live


def test_live_sources_have_ages_and_gaps(copy: Path):
    live = make_live(copy)
    dump = sc.Dump(copy)
    np.testing.assert_array_equal(dump.live, live)
    assert (dump[7].captured_unix_ns, dump[7].age_seconds, dump[7].gaps) == (10**18 + 7, 0.025, 1)


def test_a_screen_has_the_place_of_its_pointer(copy: Path):
    assert sc.Dump(copy).pointer is None
    assert sc.Dump(copy)[3].pointer is None
    places = np.random.default_rng(5).random((len(np.load(copy / "index.npy")), 2), np.float32)
    places[3] = np.nan
    np.save(copy / "pointer.npy", places)
    dump = sc.Dump(copy)
    np.testing.assert_array_equal(dump.pointer, places)
    np.testing.assert_array_equal(dump[2:5].pointer, places[2:5])
    assert dump[3].pointer is None
    assert dump[4].pointer == tuple(places[4].tolist())
    np.save(copy / "pointer.npy", places[:-1])
    with pytest.raises(sc.InputError, match="pointer.npy"):
        sc.Dump(copy)


# ---- What is no dump, torn or incomplete ----


def test_missing_folder(tmp_path: Path):
    with pytest.raises(sc.InputError, match=f"{tmp_path}/x: no such folder; give a folder that `saccade dump` wrote"):
        sc.Dump(tmp_path / "x")


def test_file_in_place_of_a_folder(clip: Path):
    with pytest.raises(sc.InputError, match=f"{clip}: a file; give a folder"):
        sc.Dump(clip)


def test_folder_of_something_else(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(sc.InputError, match=f"{tmp_path}: no meta.json in it"):
        sc.Dump(tmp_path)


def test_folder_of_dumps_names_one(dumped: Path):
    with pytest.raises(sc.InputError, match=f"holds 1 dumps below it; open one of them, such as {dumped}"):
        sc.Dump(dumped.parent)


def test_path_of_a_wrong_type():
    with pytest.raises(TypeError):
        sc.Dump(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": "other"}', "\xff\xfe", "[" * 100_000])
def test_foreign_or_torn_meta(copy: Path, text: str):
    (copy / "meta.json").write_text(text, encoding="latin-1")
    with pytest.raises(sc.InputError, match=rf"{copy}/meta.json: (damaged|not of a dump)"):
        sc.Dump(copy, require_complete=False)


@pytest.mark.parametrize(
    "change",
    [
        {"patches": 0},
        {"patches": "x"},
        {"patch_size": -1},
        {"dtype": "f64"},
        {"mean": [1, 2]},
        {"std": None},
        {"stream": {}},
        {"stream": 3},
        {"input": None},
    ],
)
def test_meta_that_makes_no_sense(copy: Path, change: dict[str, object]):
    edit_json(copy / "meta.json", **change)
    with pytest.raises(sc.InputError, match=f"{copy}/meta.json: damaged"):
        sc.Dump(copy)


def test_newer_schema(copy: Path):
    edit_json(copy / "meta.json", schema=99)
    with pytest.raises(sc.InputError, match=f"{copy}: schema 99 is newer than this pysaccade knows"):
        sc.Dump(copy)


def test_incomplete_dump_is_refused_unless_asked_for(copy: Path):
    (copy / "manifest.json").unlink()
    with pytest.raises(sc.InputError, match=f"{copy}: the dump is incomplete: .*pass require_complete=False"):
        sc.Dump(copy)
    dump = sc.Dump(copy, require_complete=False)
    assert (dump.complete, dump.manifest) == (False, None)
    assert "incomplete" in repr(dump)
    np.testing.assert_array_equal(dump.patches, np.load(copy / "patches.npy"))
    assert not pickle.loads(pickle.dumps(dump)).complete


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "saccade-dump", "emissions": "x"}', "{"])
def test_torn_manifest(copy: Path, text: str):
    (copy / "manifest.json").write_text(text)
    with pytest.raises(sc.InputError, match=rf"{copy}/manifest.json: damaged"):
        sc.Dump(copy)
    assert not sc.Dump(copy, require_complete=False).complete


@pytest.mark.parametrize("name", ARRAYS)
def test_array_cut_short_is_refused_and_its_whole_rows_are_read_when_asked_for(copy: Path, name: str):
    rows, path = len(sc.Dump(copy)), copy / f"{name}.npy"
    data_bytes = np.load(path, mmap_mode="r").nbytes
    os.truncate(path, path.stat().st_size - data_bytes + 11 * data_bytes // rows // 2)
    with pytest.raises(sc.InputError, match=f"{path}: cut short: 5 of {rows} emissions; dump the video again"):
        sc.Dump(copy)
    dump = sc.Dump(copy, require_complete=False)
    assert len(dump) == 5
    assert dump[4].patches.sum() > 0


@pytest.mark.parametrize("name", ARRAYS)
def test_array_missing_or_foreign(copy: Path, name: str):
    path = copy / f"{name}.npy"
    for damage, words in (
        (lambda: np.save(path, np.zeros((3, 5), np.complex64)), "dtype complex64 where"),
        (lambda: np.save(path, np.array([None, {}]), allow_pickle=True), "dtype object where"),
        (lambda: path.write_bytes(b""), "damaged"),
        (lambda: path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00{'descr'"), "damaged"),
        (lambda: path.write_bytes(b"\x93NUMPY\x01\x00\x06\x00__im__"), "damaged"),
        (lambda: path.write_bytes(b"PK\x03\x04" * 99), "damaged"),
        (path.unlink, "no such file"),
        (lambda: os.mkfifo(path), "not a file"),
        (lambda: (path.unlink(), path.mkdir()), "not a file|Is a directory"),
    ):
        damage()
        for require in (True, False):
            with pytest.raises(sc.InputError, match=f"{path}: ({words})"):
                sc.Dump(copy, require_complete=require)


def test_shape_of_other_patches(copy: Path):
    np.save(copy / "patches.npy", np.zeros((9, 273, 3, 16, 14), np.uint8))
    with pytest.raises(sc.InputError, match=r"patches.npy: shape \(9, 273, 3, 16, 14\) where \(rows, 273, 3, 16, 16\)"):
        sc.Dump(copy)


def test_dump_without_emissions(copy: Path):
    for name in ARRAYS:
        array = np.load(copy / f"{name}.npy")
        np.save(copy / f"{name}.npy", array[:0])
    edit_json(copy / "manifest.json", emissions=0)
    dump = sc.Dump(copy)
    assert (len(dump), list(dump), dump.patches.shape) == (0, [], (0, 273, 3, 16, 16))
    with pytest.raises(ValueError, match="there is no emission"):
        dump.at(0)


def test_killed_run_gives_what_was_flushed(program: Path, tmp_path: Path):
    folder = tmp_path / "killed"
    child = subprocess.Popen(
        [program, "dump", "lavfi:testsrc2=s=320x180:r=100", "-o", folder, "--every", "frame", "--log-level", "error"],
        stdin=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            time.sleep(0.2)
            try:
                if len(sc.Dump(folder, require_complete=False)) > 10:
                    break
            except sc.InputError:
                continue
        while_it_runs = sc.Dump(folder, require_complete=False)
        seen = while_it_runs.patches.copy()
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    with pytest.raises(sc.InputError, match="incomplete"):
        sc.Dump(folder)
    dump = sc.Dump(folder, require_complete=False)
    assert len(dump) >= len(seen) > 10
    np.testing.assert_array_equal(dump.patches[: len(seen)], seen)
    np.testing.assert_array_equal(dump.index["frame"], np.arange(len(dump)))


def test_needs_numpy_alone(dumped: Path):
    code = f"""if True:
        import sys
        for name in ("torch", "PIL", "pandas"): sys.modules[name] = None
        import pysaccade as sc
        dump = sc.Dump({str(dumped)!r})
        print(dump[0].new.sum(), dump[0].positions().shape, dump.at(2).frame)
        assert not any(name in open("/proc/self/maps").read() for name in ("libsaccade", "libavcodec", "libcuda"))"""
    environment = {**os.environ, "SACCADE_LIBRARY": "/nowhere", "SACCADE_PROGRAM": "/nowhere"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_copied_dump_is_equal(dumped: Path, tmp_path: Path):
    other = Path(shutil.copytree(dumped, tmp_path / "with blank ä"))
    np.testing.assert_array_equal(sc.Dump(other).patches, sc.Dump(dumped).patches)
