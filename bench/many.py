#!/usr/bin/env python3
"""Many videos: plans, status and work against the bars of docs/SCALE.md. Prints Markdown.

    bench/many.py sizes                                 what clips of 10 s take in a store; the rest are speeds
    bench/many.py plan   [--rows 1000000]               seconds and memory of `plan`
    bench/many.py status [--units 100000]               seconds of `status` over so many markers
    bench/many.py jobs   [--clips 200]                  `dump` in a loop, two at a time, against --jobs and `work`
    bench/many.py poison [--clips 200]                  `work` where 1 of 100 videos kills its decoder, against none
    bench/many.py ray    [--units 4]                    a store's units of 5 minutes on Ray against `work`; --python as below
        [--cpus 0.67]                                   and once more with units that take so much of a core
    bench/many.py gpu    [--h264 CLIP] [--hevc CLIP]    processes x videos of one process, on one GPU
    bench/many.py devices [--h264 CLIP] [--hevc CLIP]   all GPUs of --gpus against the first alone, in turn
    bench/many.py slots  [--clip CLIP] [--svg FILE]     frames/s against the videos that run side by side

All take --saccade BIN, --folder DIR (a temporary one) and --repeats N (medians). `gpu` makes clips of 10 s where none are
given, 1080p H.264 and 2160p HEVC, and files of 10 minutes from them by repetition; --minutes and --copies set the sizes,
--codecs and --grid leave some out. "started" is the rate without the start of `work`, its workers and CUDA, which a job of
hours doesn't notice: the time that a store of one tiny clip takes is left out.
`ray` starts a cluster of this machine's cores, which is not timed; --python names a Python that has pysaccade[ray].
The bars there: 4,057 and 2,139 frames/s, what 14 bare decoders in one process give on an H200 (--bare 4057,2139).
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
QUIET = ["--progress", "none", "--log-level", "error"]
LATTICE = ["--lattice", "nested"]  # of all that is timed
ON_GPU = ["--backend", "cuda", "--hwdec", "cuda", "--set", "require-hwdec"]
SMALL_UNITS = [*ON_GPU, "--unit-seconds", "30"]  # as in a long job, shards are written while videos are decoded
GRID = "1x8,2x4,4x2,8x1,1x14,1x16"  # worker processes x videos in each
FRESH = ["xargs", "-0", "-n1", "-P"]  # a process for each video


def timed(command, codes=(0,), **options):
    """Seconds and peak resident MB of one command and its children."""
    begin = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{errors.decode(errors='replace')}")
    return seconds, usage.ru_maxrss / 1024


def ffmpeg(*arguments):
    timed(["ffmpeg", "-y", "-loglevel", "error", "-nostdin", *arguments])


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    return path


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for i in range(rows):
            file.write(json.dumps({"uri": f"/data/part-{i // 1000:05}/clip-{i:08}.mp4", "start": 0, "end": 10, "caption": f"caption of clip {i}"}) + "\n")


def sizes(options, folder):
    """The store of the bundled clip's first 10 s, and of many such clips."""
    rows, store = folder / "rows.jsonl", folder / "store"
    rows.write_text(json.dumps({"uri": str(ROOT / "assets/desktop.mp4"), "start": 0, "end": 10}) + "\n")
    timed([options.saccade, "dump", "--manifest", rows, "-o", store, "--backend", "cpu", *QUIET])
    item = json.loads(next((store / "index").iterdir()).read_text())
    shard = next((store / "shards").iterdir()).stat().st_size
    unit_s = json.loads((store / "plan/plan.json").read_text())["unit_s"]
    write_rows(rows, 1000)
    timed([options.saccade, "plan", rows, "-o", folder / "planned", "--backend", "cpu"])
    row = sum(path.stat().st_size for path in (folder / "planned/plan").iterdir()) / 1000
    print(f"A clip of 10 s has {item['emissions']} emissions of {item['patches']} patches: {shard / 1e6:.1f} MB.\n")
    print(f"| clips | hours of video | units of {unit_s / 60:.0f} minutes | shards | plan |\n|---|---|---|---|---|")
    for power in (4, 6, 7):
        clips = 10 ** power
        hours, units = f"{clips / 360:,.0f}", f"{-(-clips * 10 // unit_s):,.0f}"
        print(f"| 10^{power} | {hours} | {units} | {decimal(clips * shard)} | {decimal(clips * row)} |")


def decimal(size):
    """Bytes with two figures and a unit."""
    unit, power = next((u, p) for u, p in (("TB", 12), ("GB", 9), ("MB", 6)) if size >= 10 ** p)
    value = size / 10 ** power
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def plan(options, folder):
    rows = folder / "rows.jsonl"
    write_rows(rows, options.rows)
    times = [timed([options.saccade, "plan", rows, "-o", fresh(folder / "store"), "--backend", "cpu"]) for _ in range(options.repeats)]
    size = sum(path.stat().st_size for path in (folder / "store/plan").iterdir())
    print(f"plan of {options.rows} rows: {statistics.median(t for t, _ in times):.1f} s, {max(m for _, m in times):.0f} MB resident, {size / 1e6:.0f} MB of plan")


def status(options, folder):
    rows, store = folder / "rows.jsonl", fresh(folder / "store")
    write_rows(rows, options.units)
    timed([options.saccade, "plan", rows, "-o", store, "--backend", "cpu", "--unit-seconds", "1"])
    digest = json.loads((store / "plan/plan.json").read_text())["hash"]
    (store / "commits").mkdir()
    for i in range(options.units):
        marker = {"format": "saccade-commit", "schema": 1, "plan": digest, "unit": f"{i:08}", "items": 1, "done": 1, "damaged": 0,
                  "quarantined": 0, "classes": {}, "shard": {"name": f"shards/{i:08}.x.tar", "bytes": 1, "sha256": "0" * 64},
                  "index": {"name": f"index/{i:08}.x.jsonl", "bytes": 1, "sha256": "0" * 64}, "quarantine": None, "emissions": 40,
                  "frames": 300, "media_s": 10.0, "engine": "work", "host": "h", "attempt": "h.1.1", "wall_s": 1.0, "unix_s": 1}
        (store / f"commits/{i:08}.json").write_text(json.dumps(marker, indent=1) + "\n")
    times = [timed([options.saccade, "status", store]) for _ in range(options.repeats)]
    print(f"status over {options.units} markers: {statistics.median(t for t, _ in times):.2f} s, {max(m for _, m in times):.0f} MB resident")


def copies(clip, folder, count):
    """So many names of one file."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"v{i:04}{pathlib.Path(clip).suffix}" for i in range(count)]
    for path in paths:
        if not path.exists():
            os.link(clip, path)
    return paths


def by_processes(options, paths, out, at_a_time, more=()):
    """Seconds of a process for each video, so many at a time."""
    fresh(out).mkdir(parents=True)
    script = f'exec "{options.saccade}" dump "$1" -o "{out}/$(basename "$1")" {" ".join([*LATTICE, *QUIET, *more])}'
    begin = time.perf_counter()
    done = subprocess.run([*FRESH, str(at_a_time), "sh", "-c", script, "sh"], input="\0".join(map(str, paths)).encode(), stdout=subprocess.DEVNULL,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"xargs: exit {done.returncode}")
    return time.perf_counter() - begin


def by_work(options, paths, out, plan_options=(), work_options=()):
    """Seconds of `plan` and of `work`."""
    rows = out.with_suffix(".txt")
    rows.write_text("".join(f"{path}\n" for path in paths))
    planned, _ = timed([options.saccade, "plan", rows, "-o", fresh(out), *LATTICE, *plan_options])
    worked, _ = timed([options.saccade, "work", out, *QUIET, *work_options])
    return planned, worked


def jobs(options, folder):
    paths = copies(made_clip(options, folder, 2), folder / "clips", options.clips)
    ways = {"a loop, two at a time": lambda: by_processes(options, paths, folder / "loop", 2, ["--backend", "cpu"]),
            "dump --jobs auto": lambda: timed([options.saccade, "dump", *paths, "-o", fresh(folder / "jobs"), "--jobs", "auto", "--backend", "cpu", *LATTICE, *QUIET])[0],
            "plan and work": lambda: sum(by_work(options, paths, folder / "store", ["--backend", "cpu"]))}
    seconds = {name: [] for name in ways}
    for _ in range(options.repeats):
        for name, run in ways.items():
            seconds[name].append(run())
    loop = statistics.median(seconds["a loop, two at a time"])
    print(f"{options.clips} clips of 2 s, {options.size}:\n\n| | s | clips/s | against the loop |\n|---|---|---|---|")
    for name, times in seconds.items():
        middle = statistics.median(times)
        print(f"| {name} | {middle:.1f} | {options.clips / middle:.1f} | {loop / middle:.2f} |", flush=True)


def made_clip(options, folder, seconds):
    clip = folder / "clip.mp4"
    ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={options.size}:rate=30:duration={seconds}", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", clip)
    return clip


def poison(options, folder):
    """A video whose decoder dies costs its worker, and a trial by itself; the others lose nothing."""
    paths = copies(made_clip(options, folder, 2), folder / "clips", options.clips)
    library = folder / "faults.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, ROOT / "tests/app/work/faults.c", "-ldl"], check=True)
    bad = [path.name for path in paths[17::100]]
    env = {**os.environ, "LD_PRELOAD": str(library), "SACCADE_FAULT": ",".join(f"segv@{name}" for name in bad)}
    rows, store, seconds = folder / "rows.txt", folder / "store", {"none": [], f"{len(bad)} of {len(paths)}": []}
    rows.write_text("".join(f"{path}\n" for path in paths))
    for _ in range(options.repeats):
        for name, times in seconds.items():
            timed([options.saccade, "plan", rows, "-o", fresh(store), "--backend", "cpu"])
            more = {} if name == "none" else {"env": env}
            times.append(timed([options.saccade, "work", store, *QUIET], codes=(0, 3), **more)[0])
            told = json.loads(subprocess.run([options.saccade, "status", store, "--json"], capture_output=True, check=False).stdout)
            if (told["quarantined"], told["done"]) != ((0, len(paths)) if name == "none" else (len(bad), len(paths) - len(bad))):
                sys.exit(f"{name}: the counts are wrong: {told}")
    clean = statistics.median(seconds["none"])
    for name, times in seconds.items():
        print(f"{name} kill their decoder: {statistics.median(times):.1f} s, {statistics.median(times) / clean:.2f} times", flush=True)


def ray(options, folder):
    paths = copies(made_clip(options, folder, 10), folder / "clips", options.units * 30)
    rows, store = folder / "rows.txt", folder / "store"
    rows.write_text("".join(f"{path}\n" for path in paths))
    cluster = [options.python, "-m", "ray.scripts.scripts"]
    env = {**os.environ, "RAY_ADDRESS": "auto", "SACCADE_PROGRAM": str(options.saccade), "RAY_USAGE_STATS_ENABLED": "0"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), *filter(None, [env.get("PYTHONPATH")])])
    env["SACCADE_LIBRARY"] = str(options.saccade.parent.parent / "capi/libsaccade.so")
    timed([*cluster, "start", "--head", "--num-cpus", os.cpu_count(), "--disable-usage-stats"], env={k: v for k, v in env.items() if k != "RAY_ADDRESS"})
    try:
        ways = {"work": [options.saccade, "work", store, *QUIET], "Ray": [options.python, "-m", "pysaccade.ray", store]}
        if options.cpus:
            ways[f"Ray, --cpus {options.cpus}"] = [*ways["Ray"], "--cpus", options.cpus]
        seconds = {name: [] for name in ways}
        for _ in range(options.repeats):
            for name, command in ways.items():
                timed([options.saccade, "plan", rows, "-o", fresh(store), "--backend", "cpu"])
                seconds[name].append(timed(command, env=env)[0])
    finally:
        timed([*cluster, "stop"], env=env)
    base = statistics.median(seconds["work"])
    for name, times in seconds.items():
        print(f"{name}: {statistics.median(times):.1f} s for {options.units} units, {base / statistics.median(times):.2f} of `work`'s speed", flush=True)


def make_clip(path, codec, size):
    encoder = ["-c:v", "libx264", "-preset", "veryfast"] if codec == "h264" else ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-tag:v", "hvc1"]
    ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=30:duration=10,noise=alls=12:allf=t", *encoder, "-pix_fmt", "yuv420p", path)
    return path


def repeated(clip, path, seconds):
    """The clip over and over, without encoding it again."""
    ffmpeg("-stream_loop", str(max(round(seconds / 10) - 1, 0)), "-i", clip, "-c", "copy", path)
    return path


def frames_of(path):
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries", "stream=nb_read_packets",
                           "-of", "csv=p=0", path], capture_output=True, text=True, check=True).stdout
    return int(text.strip().strip(","))


def by_grid(options, paths, folder, processes, videos):
    """Seconds of `work` with so many worker processes, and so many videos in each."""
    limits = ["--set", f"workers-per-gpu={processes}", "--jobs", videos]
    return statistics.median(by_work(options, paths, folder / "store", SMALL_UNITS, limits)[1] for _ in range(options.repeats))


def clips_of(options, folder):
    """Of each codec: its name, the clip, two frames of it, and it over and over for --minutes."""
    for codec, size in (("h264", "1920x1080"), ("hevc", "3840x2160")):
        if codec not in options.codecs.split(","):
            continue
        clip = pathlib.Path(getattr(options, codec) or make_clip(folder / f"{codec}.mp4", codec, size)).resolve()
        mine = folder / f"{codec}-copy{clip.suffix}"
        shutil.copy(clip, mine)
        tiny = folder / f"{codec}-tiny{clip.suffix}"
        ffmpeg("-i", mine, "-c", "copy", "-frames:v", "2", tiny)
        yield codec, mine, tiny, repeated(mine, folder / f"{codec}-long{clip.suffix}", 60 * options.minutes)


def gpu(options, folder):
    bare = dict(zip(("h264", "hevc"), map(float, options.bare.split(","))))
    print("| input | processes x videos | frames/s | of bare decoders | against a process each | started | of bare decoders |\n|---|---|---|---|---|---|---|")
    for codec, mine, tiny, long in clips_of(options, folder):
        starts = {}
        for length, source, count in (("10 s", mine, options.copies), (f"{options.minutes:g} min", long, options.long_copies)):
            paths = copies(source, folder / f"{codec}-{length}", count)
            frames = frames_of(source) * count
            base = None
            if length == "10 s":
                base = frames / by_processes(options, paths, folder / "each", 8, ON_GPU)
                print(f"| {codec} {length} | 8 processes that start for each | {base:.0f} | {base / bare[codec]:.2f} | 1.00 | | |", flush=True)
            for cell in options.grid.split(","):
                processes, videos = cell.split("x")
                if cell not in starts:
                    starts[cell] = by_grid(options, [tiny], folder, processes, videos)
                seconds = by_grid(options, paths, folder, processes, videos)
                rate, started = frames / seconds, frames / max(seconds - starts[cell], 1e-3)
                print(f"| {codec} {length} | {processes} x {videos} | {rate:.0f} | {rate / bare[codec]:.2f} | {f'{rate / base:.2f}' if base else ''} "
                      f"| {started:.0f} | {started / bare[codec]:.2f} |", flush=True)
            fresh(folder / "store")
            fresh(folder / "each")


def devices(options, folder):
    """One worker process a device; the start of `work` is left out as in `gpu`."""
    lists = [options.gpus.split(",")[0], options.gpus]
    print("| input | devices | frames/s | started | against one | started |\n|---|---|---|---|---|---|")
    for codec, mine, tiny, long in clips_of(options, folder):
        few = copies(tiny, folder / f"{codec}-few", 2)
        for length, source, count in (("10 s", mine, options.copies), (f"{options.minutes:g} min", long, options.long_copies)):
            paths = copies(source, folder / f"{codec}-{length}", count)
            frames = frames_of(source) * count
            times = {gpus: [] for gpus in lists}
            for _ in range(options.repeats):
                for gpus in lists:
                    limits = ["--gpus", gpus, "--jobs", "14"]
                    start = by_work(options, few, folder / "store", SMALL_UNITS, limits)[1]
                    seconds = by_work(options, paths, folder / "store", SMALL_UNITS, limits)[1]
                    times[gpus].append((seconds, max(seconds - start, 1e-3)))
            middle = {gpus: [statistics.median(column) for column in zip(*rows)] for gpus, rows in times.items()}
            for gpus in lists:
                whole, started = middle[gpus]
                print(f"| {codec} {length} | {gpus} | {frames / whole:.0f} | {frames / started:.0f} | {middle[lists[0]][0] / whole:.2f} "
                      f"| {middle[lists[0]][1] / started:.2f} |", flush=True)
            fresh(folder / "store")


def slots(options, folder):
    clip = options.clip or make_clip(folder / "clip.mp4", "h264", options.size)
    mine = folder / f"copy{pathlib.Path(clip).suffix}"
    shutil.copy(clip, mine)
    count = options.copies
    frames = frames_of(mine) * count
    paths = copies(mine, folder / "clips", count)
    points = []
    for side_by_side in options.slots:
        rates = [frames / by_work(options, paths, folder / "store", options.plan_options, ["--jobs", side_by_side])[1] for _ in range(options.repeats)]
        points.append((side_by_side, statistics.median(rates)))
        print(f"{side_by_side} videos side by side: {points[-1][1]:.0f} frames/s", flush=True)
    if options.svg:
        options.svg.write_text(plot(points, f"{count} x {pathlib.Path(clip).name}"))


def plot(points, title):
    """An SVG of frames/s against slots."""
    left, top, width, height = 70, 40, 520, 260
    most_x, most_y = max(x for x, _ in points), max(y for _, y in points) * 1.1
    at = [(left + width * x / most_x, top + height * (1 - y / most_y)) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#1f6fb2"/><text x="{x:.1f}" y="{y - 9:.1f}" text-anchor="middle">{value:.0f}</text>'
                    f'<text x="{x:.1f}" y="{top + height + 18}" text-anchor="middle">{slot}</text>' for (x, y), (slot, value) in zip(at, points))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 30}" height="{top + height + 50}" font-family="sans-serif" font-size="12">'
            f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="22" font-size="14">{title}: frames/s against videos side by side</text>'
            f'<path d="M{left} {top}V{top + height}H{left + width}" fill="none" stroke="#888"/>'
            f'<polyline points="{line}" fill="none" stroke="#1f6fb2" stroke-width="2"/>{marks}</svg>\n')


MEASURES = {"sizes": sizes, "plan": plan, "status": status, "jobs": jobs, "poison": poison, "ray": ray, "gpu": gpu, "devices": devices, "slots": slots}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(MEASURES))
    parser.add_argument("--saccade", type=pathlib.Path, default=os.environ.get("SACCADE_BIN", ROOT / "build/ci/app/saccade"))
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--units", type=int, help="default: 100000 for status, 4 for ray")
    parser.add_argument("--cpus", help="of a unit on Ray")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--h264")
    parser.add_argument("--hevc")
    parser.add_argument("--clip")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--copies", type=int, default=64, help="of the 10 s clips")
    parser.add_argument("--long-copies", type=int, default=16)
    parser.add_argument("--codecs", default="h264,hevc")
    parser.add_argument("--grid", default=GRID, help="worker processes x videos of `gpu`, as 1x8,1x14")
    parser.add_argument("--bare", default="4057,2139", help="frames/s of bare decoders: H.264, HEVC")
    parser.add_argument("--gpus", default="0,1", help="the devices of `devices`")
    parser.add_argument("--slots", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 4, 8, 14, 16])
    parser.add_argument("--plan-options", type=str.split, default=[])
    parser.add_argument("--svg", type=pathlib.Path)
    options = parser.parse_args()
    options.saccade = options.saccade.resolve()
    options.units = options.units or (4 if options.what == "ray" else 100_000)
    with tempfile.TemporaryDirectory(prefix="saccade-many-") as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        MEASURES[options.what](options, folder.resolve())


if __name__ == "__main__":
    main()
