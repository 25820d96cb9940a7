"""Stores for the tests of many videos: small clips, faults of single ones, what a store holds."""
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from dump_support import SACCADE, ffmpeg, saccade  # noqa: E402
from program import FolderTest  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = ("done", "damaged", "quarantined", "duplicate", "pending")


def build_library(folder, source):
    """What LD_PRELOAD takes, of a file beside this one."""
    library = pathlib.Path(folder) / f"{pathlib.Path(source).stem}.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / source, "-ldl",
                    "-Wl,--unresolved-symbols=ignore-all"], check=True)
    return library


class WorkTest(FolderTest):
    """A temporary folder, with clips c/v00.mp4 ... in it: the same small video under `count` names."""
    count = 12

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "c").mkdir()
        cls.clip = cls.folder / "clip.mp4"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=128x96:rate=20:duration=1", "-c:v", "libx264", "-preset", "ultrafast",
               "-pix_fmt", "yuv420p", cls.clip)
        cls.clips = [cls.folder / "c" / f"v{i:02}.mp4" for i in range(cls.count)]
        for path in cls.clips:
            shutil.copy(cls.clip, path)

    def setUp(self):
        self.store = self.folder / f"store-{self.id().rsplit('.', 1)[-1]}"

    def faults(self, text, **more):
        """The environment of a program with these faults; more: other variables of faults.c."""
        library = self.folder / "faults.so"
        if not library.exists():
            build_library(self.folder, "faults.c")
        checks = os.environ.get("ASAN_OPTIONS", "")
        return {**os.environ, "LD_PRELOAD": str(library), "SACCADE_FAULT": text, **more,
                "TSAN_OPTIONS": f"{os.environ.get('TSAN_OPTIONS', '')}:handle_segv=0:handle_abort=0".lstrip(":"),
                "ASAN_OPTIONS": f"{checks}:verify_asan_link_order=0:handle_segv=0:handle_abort=0".lstrip(":")}

    def manifest(self, rows, name="list.txt"):
        path = self.folder / f"{self.id().rsplit('.', 1)[-1]}-{name}"
        path.write_text("".join(f"{row}\n" for row in rows))
        return path

    def plan(self, *options, rows=None, store=None, name="list.txt"):
        done = saccade("plan", self.manifest(rows or self.clips, name), "-o", store or self.store, "--backend", "cpu", *options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def work(self, *options, code=0, store=None, env=None):
        done = saccade("work", store or self.store, *options, env=env or dict(os.environ))
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stderr.decode()

    def status(self, store=None, code=0):
        done = saccade("status", store or self.store, "--json")
        self.assertEqual(done.returncode, code, done.stderr.decode())
        status = json.loads(done.stdout)
        if code == 0:
            self.assertEqual(status["in"], sum(status[name] for name in COUNTS), status)
        return status

    def expect(self, store=None, **wanted):
        """The counts of `status`, and that `verify` finds no fault."""
        status = self.status(store)
        self.assertEqual({name: status[name] for name in COUNTS}, {**dict.fromkeys(COUNTS, 0), **wanted})
        done = saccade("verify", store or self.store)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def markers(self, store=None):
        return [json.loads(path.read_text()) for path in sorted(pathlib.Path(store or self.store).glob("commits/*.json"))]

    def lines(self, part, store=None):
        """All lines of `index` or `quarantine` that markers name, by key."""
        root = pathlib.Path(store or self.store)
        names = [marker[part]["name"] for marker in self.markers(store) if marker[part]]
        rows = [json.loads(line) for name in names for line in (root / name).read_text().splitlines()]
        self.assertEqual(len({row["key"] for row in rows}), len(rows))
        return {row["key"]: row for row in rows}

    def shard_hashes(self, store=None):
        return sorted(marker["shard"]["sha256"] for marker in self.markers(store) if marker["shard"])

    def array(self, row, name, store=None):
        """A member, read by Python's own tarfile."""
        with tarfile.open(pathlib.Path(store or self.store) / row["shard"]) as tar:
            return np.load(io.BytesIO(tar.extractfile(f"{row['key']}.{name}.npy").read()))

    def undo(self, *units):
        """Units that were done are pending again, as if their markers had never been made."""
        for unit in units:
            (self.store / f"commits/{unit:08}.json").unlink()

    def left_over(self):
        """Of attempts, claims and heartbeats."""
        return sorted(path.name for folder in ("attempts", "claims", "workers") for path in (self.store / folder).glob("*"))


def workers_of(pid):
    """Its children that are workers: at its end LeakSanitizer has one, too, and waits for it for ever."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z" and is_worker(entry.parent):
            found.append(int(entry.parent.name))
    return found


def is_worker(process):
    try:
        return (process / "cmdline").read_bytes().split(b"\0")[1:2] == [b"worker"]
    except OSError:
        return False


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start(*arguments, env=None, **options):
    return subprocess.Popen([SACCADE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=env, **options)


def sha256(data):
    return hashlib.sha256(data).hexdigest()
