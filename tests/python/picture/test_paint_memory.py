"""Memory of earlier emissions: `paint(memory=...)` and `saccade reconstruct --memory` against the frames themselves."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pysaccade as sc
from test_paint import read_png

S = 16
SIZE = (240, 368)


def detail(seed: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    """A picture of many scales, grey and colour, within 30 to 225."""
    rng = np.random.default_rng(seed)
    image = np.zeros((*size, 3))
    for step in (1, 4, 16, 64):
        coarse = rng.uniform(-1, 1, (-(-size[0] // step), -(-size[1] // step), 3))
        image += coarse.repeat(step, 0).repeat(step, 1)[: size[0], : size[1]]
    return (128 + 24 * image).round().astype(np.uint8)


def emission(frame: np.ndarray, at: tuple[int, int], pts_s: float = 0.0, gaps: int = 0) -> sc.Emission:
    """What an eye sees that looks at (x, y) in units of 64 pixels: lod 0 within 64, then 1, then 2 over the frame."""
    rows, cols = frame.shape[:2]
    beyond = [(64, 128 - extent % 64) for extent in (rows, cols)]
    padded = np.pad(frame.astype(np.float64), (*beyond, (0, 0)), mode="edge")
    patches, places = [], []
    for lod, reach in ((2, 10**6), (1, 96), (0, 32)):
        pitch = 1 << lod
        means = padded.reshape(padded.shape[0] // pitch, pitch, -1, pitch, 3).mean(axis=(1, 3))
        codes = np.floor(means + 0.5).astype(np.uint8)
        for top in range(0, rows, S * pitch):
            for left in range(0, cols, S * pitch):
                x, y = left + S * pitch / 2, top + S * pitch / 2
                if max(abs(x - 64 * at[0]), abs(y - 64 * at[1])) > reach:
                    continue
                row, col = (top + 64) // pitch, (left + 64) // pitch
                patches.append(codes[row : row + S, col : col + S].transpose(2, 0, 1))
                places.append((x / cols, y / rows, lod, 1.0))
    return sc.Emission(
        patches=np.stack(patches), geometry=np.array(places, np.float32), changed=np.ones(len(patches), bool),
        frame=0, pts_ns=round(pts_s * 1e9), fixation=(64 * at[0] / cols, 64 * at[1] / rows), size=(rows, cols),
        gaps=gaps,
    )  # fmt: skip


def fovea(at: tuple[int, int], reach: int = 32) -> tuple[slice, slice]:
    x, y = 64 * at[0], 64 * at[1]
    return np.s_[y - reach : y + reach, x - reach : x + reach]


def test_what_stays_the_same_stays_fine_and_the_picture_fills_up():
    frame, memory = detail(1), sc.PictureMemory()
    looks = [(1, 1), (3, 1), (5, 3), (2, 3)]
    exact = []
    for k, at in enumerate(looks):
        picture = sc.paint(emission(frame, at, k), memory=memory)
        for seen in looks[: k + 1]:
            np.testing.assert_array_equal(picture[fovea(seen)], frame[fovea(seen)])
        exact.append((picture == frame).all(axis=2).mean())
    assert all(after > before + 0.03 for before, after in itertools.pairwise(exact))
    np.testing.assert_array_equal(
        sc.paint([emission(frame, at, k) for k, at in enumerate(looks)], memory=True), picture
    )


def test_first_picture_is_the_plain_one():
    first = emission(detail(2), (2, 1))
    np.testing.assert_array_equal(sc.paint(first, memory=sc.PictureMemory()), sc.paint(first))
    np.testing.assert_array_equal(sc.paint([first], memory=True, width=100), sc.paint(first, width=100))


@pytest.mark.parametrize("change", [8, -12, 60])
def test_changed_place_is_not_shown_stale(change: int):
    before, memory = detail(3), sc.PictureMemory()
    sc.paint(emission(before, (1, 1), 0), memory=memory)
    after = before.copy()
    after[48:64, 48:64] = (after[48:64, 48:64].astype(int) + change).clip(0, 255)
    now = emission(after, (4, 2), 1)
    picture, plain = sc.paint(now, memory=memory), sc.paint(now)
    np.testing.assert_array_equal(picture[44:68, 44:68], plain[44:68, 44:68])  # and the eight around each sample
    np.testing.assert_array_equal(picture[80:96, 80:96], before[80:96, 80:96])


def test_moved_thing_leaves_no_ghost():
    ground, memory = detail(4) // 2, sc.PictureMemory()
    pictures = []
    for k, x in enumerate((40, 90, 140)):
        frame = ground.copy()
        frame[60:90, x : x + 30] = 250
        pictures.append((frame, sc.paint(emission(frame, (1 + k, 1), k), memory=memory)))
    frame, picture = pictures[-1]
    plain = sc.paint(emission(frame, (3, 1), 2))
    wrong = np.abs(picture.astype(int) - frame).max(axis=2)
    assert not (wrong > np.abs(plain.astype(int) - frame).max(axis=2) + 24).any()


def test_colour_that_changes_at_equal_luma_is_seen():
    frame, memory = np.full((*SIZE, 3), 120, np.uint8), sc.PictureMemory()
    sc.paint(emission(frame, (1, 1), 0), memory=memory)
    after = frame.copy()
    after[40:72, 40:72] = (120 + 60, 120 - 18, 120)  # 0.2126 * 60 = 0.7152 * 17.8
    now = emission(after, (4, 2), 1)
    np.testing.assert_array_equal(sc.paint(now, memory=memory), sc.paint(now))


def test_cut_and_moving_camera_drop_all():
    before, memory = detail(5, (240, 500)), sc.PictureMemory()
    sc.paint(emission(before[:, :368], (1, 1), 0), memory=memory)
    for k, frame in enumerate((before[:, 5:373], detail(6))):  # a pan by 5 pixels, then another picture
        now = emission(frame, (4, 2), 1 + k)
        np.testing.assert_array_equal(sc.paint(now, memory=memory), sc.paint(now))


def test_slow_fade_is_followed():
    frame, memory = detail(7), sc.PictureMemory()
    for k in range(40):
        now = emission((frame * (1 - k / 80)).astype(np.uint8), (1 + k % 5, 1 + k % 3), k)
        shown = sc.paint(now, memory=memory).astype(int)
        # No place is farther off than the codes that a mean may lie off, and what it then hides between neighbours.
        blocks = np.abs(shown - (frame * (1 - k / 80)).astype(np.uint8))[:192, :320].reshape(48, 4, 80, 4, 3)
        plain = np.abs(sc.paint(now).astype(int) - (frame * (1 - k / 80)).astype(np.uint8))[:192, :320]
        assert blocks.mean() <= plain.mean() + 2.2


@pytest.mark.parametrize("why", ["gap", "time goes back", "size", "forget"])
def test_memory_of_another_stream_is_dropped(why: str):
    frame, memory = detail(8), sc.PictureMemory()
    sc.paint(emission(frame, (1, 1), 5), memory=memory)
    if why == "forget":
        memory.forget()
    if why == "size":
        frame = detail(8, (176, 240))
    now = emission(frame, (2, 2), 4 if why == "time goes back" else 6, gaps=int(why == "gap"))
    np.testing.assert_array_equal(sc.paint(now, memory=memory), sc.paint(now))


def test_place_that_no_patch_covers_stays_as_it_was():
    frame, memory = detail(9), sc.PictureMemory()
    before = sc.paint(emission(frame, (1, 1), 0), memory=memory)
    now = emission(frame, (4, 2), 1)
    left_out = sc.Emission(**{**vars(now), "patches": now.patches[1:], "geometry": now.geometry[1:]})
    np.testing.assert_array_equal(sc.paint(left_out, memory=memory)[:64, :64], before[:64, :64])
    memory.forget()
    np.testing.assert_array_equal(sc.paint(left_out, memory=memory)[:64, :64], np.full((64, 64, 3), 128))


def test_mark_and_width_leave_the_memory_alone():
    frame, memory, marked = detail(10), sc.PictureMemory(), sc.PictureMemory()
    for k, at in enumerate([(1, 1), (4, 2)]):
        now = emission(frame, at, k)
        sc.paint(now, memory=marked, mark=True)[:] = 0
        last = sc.paint(now, memory=memory)
    np.testing.assert_array_equal(sc.paint(now, memory=marked), last)
    with pytest.raises(ValueError, match="memory holds a picture of 368x240, not 100x65"):
        sc.paint(now, memory=memory, width=100)


def test_wrong_uses_are_named():
    now = emission(detail(11), (1, 1))
    with pytest.raises(TypeError, match="memory=True needs a Dump or emissions in a row"):
        sc.paint(now, memory=True)
    with pytest.raises(TypeError, match="memory=True needs emissions, and one of them is of type int"):
        sc.paint([3], memory=True)
    with pytest.raises(ValueError, match="there is no emission"):
        sc.paint([], memory=True)
    with pytest.raises(TypeError, match="memory takes True, False or a PictureMemory, not str 'yes'"):
        sc.paint(now, memory="yes")
    with pytest.raises(TypeError, match="show: memory=True needs a Dump or emissions in a row"):
        sc.show(now, memory=True)
    between = now.geometry + np.array([0.5 / SIZE[1], 0, 0, 0], np.float32)
    with pytest.raises(ValueError, match="samples lie between texels"):
        sc.paint(now.patches, between, SIZE, memory=sc.PictureMemory())


def test_film_remembers(tmp_path: Path):
    frame = detail(12)
    emissions = [emission(frame, at, k) for k, at in enumerate([(1, 1), (3, 1), (5, 3)])]
    film = sc.show(emissions, width=SIZE[1], mark=False, memory=True, most=2)
    assert len(film.images) == 2
    np.testing.assert_array_equal(film.images[-1], sc.paint(emissions, memory=True))


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str) -> Path:
    """A still picture with a moving box and a counter, then a cut."""
    path = tmp_path_factory.mktemp("memory") / "changing.mp4"
    graph = (
        "testsrc2=size=418x298:rate=25:duration=1,loop=loop=-1:size=1:start=0,trim=duration=4,setpts=N/25/TB,"
        "drawbox=x=100:y=120:w=40:h=40:color=white:t=fill:enable='gte(t,1.5)'[a];"
        "mandelbrot=size=418x298:rate=25,trim=end_frame=1,loop=loop=40:size=1:start=0,setpts=N/25/TB[b];[a][b]concat"
    )
    encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "20", "-pix_fmt", "yuv420p"]
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", graph, *encoder, path], check=True)
    return path


@pytest.mark.parametrize("options", [(), ("--dtype", "f32", "--normalize", "clip", "--vf", "setsar=4/3")], ids=str)
def test_program_paints_the_same_pictures(
    run_program: Callable[..., str], changing: Path, ffmpeg: str, tmp_path: Path, options: tuple[str, ...]
):
    run_program("dump", changing, "-o", tmp_path / "d", "--lattice", "nested", "--tokens", 100,
                "--log-level", "error", *options)  # fmt: skip
    dump, memory = sc.Dump(tmp_path / "d"), sc.PictureMemory()
    filled = []
    for i, each in enumerate(dump):
        ours = sc.paint(each, memory=memory, mark=True).astype(int)
        filled.append((np.abs(ours - sc.paint(each, mark=True)) > 0).mean())
        if i % 5 and i != len(dump) - 1:
            continue
        picture = tmp_path / f"{i}.png"
        run_program("reconstruct", tmp_path / "d", "-o", picture, "--emission", i, "--memory")
        assert np.abs(ours - read_png(picture, ffmpeg)).max() <= 1
    assert max(filled) > 0.02  # it is no plain painting


def test_program_compares_and_films_with_memory(run_program: Callable[..., str], changing: Path, tmp_path: Path):
    run_program("dump", changing, "-o", tmp_path / "d", "--lattice", "nested", "--tokens", 100,
                "--log-level", "error")  # fmt: skip
    plain, kept = (
        run_program("reconstruct", tmp_path / "d", "--against", changing, "--json", *more)
        for more in ((), ("--memory",))
    )
    plain, kept = (json.loads(text)["against"] for text in (plain, kept))
    assert kept["matched"] == plain["matched"]
    assert kept["frame"]["psnr_db"] > plain["frame"]["psnr_db"] + 1
    assert kept["fovea"] == plain["fovea"]
    run_program("reconstruct", tmp_path / "d", "-o", tmp_path / "x.html", "--memory")
    run_program("reconstruct", tmp_path / "d", "-o", tmp_path / "x.mkv", "--memory")


def test_program_and_show_paint_what_an_adaptive_receiver_has(
    run_program: Callable[..., str], changing: Path, ffmpeg: str, tmp_path: Path
):
    """An emission has only what the receiver lacked: --memory is not needed for the picture of all that was sent."""
    run_program("dump", changing, "-o", tmp_path / "d", "--tokens", 100, "--log-level", "error")
    dump, memory = sc.Dump(tmp_path / "d"), sc.PictureMemory()
    pictures = [sc.paint(each, memory=memory, mark=True, width=418) for each in dump]
    for i in (5, len(dump) - 1):
        run_program("reconstruct", tmp_path / "d", "-o", tmp_path / f"{i}.png", "--emission", i)
        assert np.abs(pictures[i].astype(int) - read_png(tmp_path / f"{i}.png", ffmpeg)).max() <= 1
        assert (np.abs(pictures[i].astype(int) - sc.paint(dump[i], mark=True)) > 0).mean() > 0.1
    np.testing.assert_array_equal(sc.show(dump, width=418).images, pictures)
    against = json.loads(run_program("reconstruct", tmp_path / "d", "--against", changing, "--json"))["against"]
    assert against["matched"] == len(dump)


def test_program_refuses_samples_between_texels(
    run_program: Callable[..., str], program: Path, clip: Path, tmp_path: Path
):
    run_program("dump", clip, "-o", tmp_path / "d", "--frames", 2, "--lattice", "grid", "--log-level", "error")
    command = [program, "reconstruct", tmp_path / "d", "-o", tmp_path / "x.png", "--memory"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 65
    assert "the samples lie between texels" in refused.stderr
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("why", ["gap", "time goes back"])
def test_program_drops_the_memory_of_another_stream(
    run_program: Callable[..., str], clip: Path, ffmpeg: str, tmp_path: Path, why: str
):
    folder = tmp_path / "d"
    run_program("dump", clip, "-o", folder, "--frames", 60, "--lattice", "nested", "--log-level", "error")
    count, last = len(sc.Dump(folder)), tmp_path / "x.png"
    if why == "gap":
        meta = json.loads((folder / "meta.json").read_text())
        meta["stream"]["live"] = True
        (folder / "meta.json").write_text(json.dumps(meta))
        live = np.zeros(count, [("captured_unix_ns", "<i8"), ("age_ns", "<i8"), ("gaps", "<i4")])
        live["gaps"][-1] = 1
        np.save(folder / "live.npy", live)
    else:
        index = np.load(folder / "index.npy")
        index["pts_ns"][-1] = 0
        np.save(folder / "index.npy", index)
    run_program("reconstruct", folder, "-o", last, "--memory", "--emission", count - 1)
    plain = sc.paint(sc.Dump(folder)[-1], mark=True).astype(int)
    assert np.abs(read_png(last, ffmpeg) - plain).max() <= 1
    run_program("reconstruct", folder, "-o", last, "--memory", "--emission", count - 2, "--overwrite")
    assert np.abs(read_png(last, ffmpeg) - sc.paint(sc.Dump(folder)[-2], mark=True).astype(int)).max() > 30
