"""`python -m pysaccade._store`: what the program gets for its requests, of S3, of folders and of clients that fail."""

from __future__ import annotations

import base64
import errno
import io
import itertools
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import bucket_support
from conftest import import_or_skip
from many_support import environment
from pysaccade._store import Helper
from pysaccade.many import _store

fsspec = import_or_skip("fsspec")
_NUMBERS = itertools.count()


class Process:
    """A helper. `ask` sends one request and gives its answer."""

    def __init__(self, url: str = "", **more: str) -> None:
        command = [sys.executable, "-W", "error", "-m", "pysaccade._store", *([url] if url else [])]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(**more), start_new_session=True
        )
        self.greeting = self.hear()

    def send(self, **request: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        self.send(id=7, do=do, **request)
        answer = self.hear()
        assert answer.pop("id") == 7
        return answer

    def end(self) -> int:
        self.process.communicate(timeout=60)
        return self.process.returncode


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.fixture(params=["s3", "file", "memory"])
def helper(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Process]:
    if request.param == "s3":
        request.getfixturevalue("s3")
        url = f"s3://{bucket_support.BUCKET}/helper{next(_NUMBERS)}"
    else:
        url = {"file": f"file://{tmp_path}/store", "memory": "memory://store"}[request.param]
    process = Process(url)
    assert process.greeting == {"ready": True}
    yield process
    assert process.end() == 0


def test_all_verbs(helper: Process, tmp_path: Path):
    assert helper.ask("list", folder="commits") == {"ok": True, "files": []}
    assert helper.ask("create", name="commits/1.json", base64=text(b"one")) == {"ok": True}
    assert helper.ask("put", name="commits/0.json", base64=text(b"zero")) == {"ok": True}
    source = tmp_path / "source"
    source.write_bytes(bytes(range(256)) * 40000)
    assert helper.ask("put", name="shards/0.tar", path=str(source)) == {"ok": True}

    assert helper.ask("read", name="commits/1.json") == {"ok": True, "base64": text(b"one")}
    part = helper.ask("read", name="shards/0.tar", offset=255, count=3)
    assert part == {"ok": True, "base64": text(b"\xff\x00\x01")}
    assert helper.ask("read", name="commits/1.json", offset=1, count=9) == {"ok": True, "base64": text(b"ne")}
    for offset in (10240000, 10240001):  # S3 answers 416
        assert helper.ask("read", name="shards/0.tar", offset=offset, count=9) == {"ok": True, "base64": ""}
    assert helper.ask("put", name="plan/empty", base64="") == {"ok": True}
    assert helper.ask("read", name="plan/empty") == {"ok": True, "base64": ""}
    assert helper.ask("read", name="plan/empty", offset=0, count=9) == {"ok": True, "base64": ""}
    assert helper.ask("read", name="plan/none", offset=9, count=9)["fault"] == "missing"
    target = tmp_path / "target"
    assert helper.ask("read", name="shards/0.tar", path=str(target)) == {"ok": True, "bytes": 10240000}
    assert target.read_bytes() == source.read_bytes()

    (first, second) = helper.ask("list", folder="commits")["files"]
    assert first[:2] == ["0.json", 4]
    assert second[:2] == ["1.json", 3]
    assert helper.ask("put", name="commits/0.json", base64=text(b"null"))["ok"]
    again = helper.ask("list", folder="commits")["files"]
    assert again[0][2] != first[2]
    assert again[1] == second

    assert helper.ask("remove", name="commits/0.json") == {"ok": True}
    assert helper.ask("remove", name="commits/0.json") == {"ok": True}
    assert [name for name, *_ in helper.ask("list", folder="commits")["files"]] == ["1.json"]


def test_what_is_there_and_what_is_not(helper: Process):
    answer = helper.ask("read", name="plan/plan.json")
    assert (answer["ok"], answer["fault"]) == (False, "missing")
    assert answer["line"].endswith("/plan/plan.json: no such file")
    assert helper.ask("create", name="claims/1.0", base64=text(b"mine"))["ok"]
    answer = helper.ask("create", name="claims/1.0", base64=text(b"another's"))
    assert (answer["ok"], answer["fault"]) == (False, "exists")
    assert answer["line"].endswith("/claims/1.0: exists")
    assert helper.ask("create", name="claims/1.0", base64=text(b"mine"))["ok"]  # its answer was lost
    assert helper.ask("read", name="claims/1.0")["base64"] == text(b"mine")


def test_bucket_that_does_not_exist_is_not_made(s3: str):
    helper = Process("s3://a-bucket-of-another-name/store")
    for request in ({"do": "put"}, {"do": "create"}):
        assert helper.ask(**request, name="plan/plan.json", base64=text(b"{}"))["fault"] == "missing"
    assert helper.ask("read", name="plan/plan.json")["fault"] == "missing"
    assert helper.end() == 0
    assert not bucket_support.file_system(s3).exists("a-bucket-of-another-name")


def test_many_requests_are_answered_each(helper: Process):
    names = [f"shards/{number:02}.tar" for number in range(70)]
    for number, name in enumerate(names):
        helper.send(id=number, do="put", name=name, base64=text(name.encode()))
    assert sorted(helper.hear()["id"] for _ in names) == list(range(70))
    for number, name in enumerate(names):
        helper.send(id=number, do="read", name=name)
    for answer in [helper.hear() for _ in names]:
        assert base64.b64decode(answer["base64"]).decode() == names[answer["id"]]


def test_signals_leave_it_alone_and_the_end_of_stdin_ends_it(tmp_path: Path):
    helper = Process(f"file://{tmp_path}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        helper.process.send_signal(number)
    helper.send(id=1, do="put", name="a", base64=text(b"a"))
    assert helper.end() == 0
    assert (tmp_path / "a").read_bytes() == b"a"  # what was asked before is finished


@pytest.mark.parametrize("url", ["s3://{bucket}/race{number}", "file://{tmp_path}/race{number}"])
def test_of_those_who_race_one_creates(url: str, s3: str, tmp_path: Path):
    where = url.format(bucket=bucket_support.BUCKET, number=next(_NUMBERS), tmp_path=tmp_path)
    helpers = [Process(where) for _ in range(3)]
    for number in range(12):
        for which, helper in enumerate(helpers):
            helper.send(id=number, do="create", name=f"claims/{number}.0", base64=text(f"{which}".encode()))
    answers = [[helper.hear() for _ in range(12)] for helper in helpers]
    winners = {answer["id"]: which for which, of_one in enumerate(answers) for answer in of_one if answer["ok"]}
    assert sum(answer["ok"] for of_one in answers for answer in of_one) == len(winners) == 12
    for number, which in winners.items():
        found = helpers[0].ask("read", name=f"claims/{number}.0")
        assert found["base64"] == text(f"{which}".encode())
    assert [helper.end() for helper in helpers] == [0, 0, 0]


def test_inputs_are_fetched_without_a_store(s3: str, tmp_path: Path):
    files = bucket_support.file_system(s3)
    files.pipe_file(f"{bucket_support.BUCKET}/in/a.mp4", b"a video")
    helper = Process()
    uri = f"s3://{bucket_support.BUCKET}/in/a.mp4"
    answer = helper.ask("fetch", uri=uri, path=str(tmp_path / "a.mp4"))
    assert answer == {"ok": True, "bytes": 7, "etag": files.info(uri)["ETag"].strip('"')}
    assert (tmp_path / "a.mp4").read_bytes() == b"a video"
    answer = helper.ask("fetch", uri=uri.replace("a.mp4", "b.mp4"), path=str(tmp_path / "b.mp4"))
    assert (answer["fault"], answer["line"]) == ("missing", f"{uri.replace('a.mp4', 'b.mp4')}: no such file")
    assert helper.ask("read", name="plan/plan.json")["fault"] == "broken"
    assert helper.end() == 0


def test_manifests_are_tables_or_the_very_bytes(s3: str, tmp_path: Path):
    arrow, parquet = import_or_skip("pyarrow"), import_or_skip("pyarrow.parquet")
    rows = {"uri": ["/a.mp4", "/b.mp4"], "start": [None, 1.5], "caption": ["x", None]}
    parquet.write_table(arrow.table(rows), tmp_path / "clips.parquet")
    files = bucket_support.file_system(s3)
    files.put_file(str(tmp_path / "clips.parquet"), f"{bucket_support.BUCKET}/in/clips.parquet")
    files.pipe_file(f"{bucket_support.BUCKET}/in/clips.csv", b"uri\r\n/a.mp4\r\n")
    helper, target = Process(), tmp_path / "manifest"
    for uri in (f"s3://{bucket_support.BUCKET}/in/clips.parquet", str(tmp_path / "clips.parquet")):
        assert helper.ask("manifest", uri=uri, path=str(target)) == {"ok": True}
        lines = [json.loads(line) for line in target.read_text().splitlines()]
        assert lines == [{"uri": "/a.mp4", "caption": "x"}, {"uri": "/b.mp4", "start": 1.5, "caption": None}]
    uri = f"s3://{bucket_support.BUCKET}/in/clips.csv"
    assert helper.ask("manifest", uri=uri, path=str(target)) == {"ok": True}
    assert target.read_bytes() == b"uri\r\n/a.mp4\r\n"
    (tmp_path / "bad.parquet").write_bytes(b"not a table")
    answer = helper.ask("manifest", uri=str(tmp_path / "bad.parquet"), path=str(target))
    assert answer["fault"] == "damaged"
    assert str(tmp_path / "bad.parquet") in answer["line"]
    assert helper.ask("manifest", uri=uri + "x", path=str(target))["fault"] == "missing"
    assert helper.end() == 0


def test_url_that_nothing_opens_is_in_the_greeting():
    helper = Process("nosuch://bucket/store")
    assert (helper.greeting["ready"], helper.greeting["fault"]) == (False, "unavailable")
    assert helper.greeting["line"].startswith("nosuch://bucket/store: ")
    assert helper.end() == 69


@pytest.mark.parametrize("scheme", ["foo", "S3", "rtp", "tls"])
def test_input_whose_scheme_nothing_opens_is_one_broken_input(scheme: str, tmp_path: Path):
    helper, path = Process(), str(tmp_path / "a.mp4")
    answer = helper.ask("fetch", uri=f"{scheme}://user:secret@host/a.mp4?token=secret", path=path)
    assert answer["fault"] == "broken"
    assert answer["line"].startswith(f"{scheme}://host/a.mp4: Protocol not known: {scheme}; ")
    (tmp_path / "b.mp4").write_bytes(b"a video")
    assert helper.ask("fetch", uri=f"file://{tmp_path}/b.mp4", path=path)["ok"]  # the helper goes on
    assert helper.end() == 0


def test_client_that_is_not_installed_is_unavailable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from fsspec.registry import known_implementations

    monkeypatch.setitem(known_implementations, "absent", {"class": "absent.Files", "err": "Get absent"})
    out, request = io.BytesIO(), {"id": 1, "do": "fetch", "uri": "absent://b/a.mp4", "path": str(tmp_path / "a")}
    Helper("", {}, out).serve([json.dumps(request).encode()])
    answer = json.loads(out.getvalue())
    assert (answer["fault"], answer["line"]) == ("unavailable", "absent://b/a.mp4: Get absent")


def test_what_libraries_and_their_processes_print_goes_to_stderr(tmp_path: Path):
    code = f"""if True:
        import os, sys
        from pysaccade import _store
        def noisy(*_):
            print("printed")
            os.system("echo of a process")
            os.write(1, b"written\\n")
            return []
        _store.BucketStore.listed = noisy
        sys.exit(_store.main(["file://{tmp_path}"]))
    """
    ended = subprocess.run(
        [sys.executable, "-c", code], input=b'{"id": 1, "do": "list", "folder": "a"}\n', capture_output=True,
        env=environment(), check=True,
    )  # fmt: skip
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [
        {"ready": True}, {"id": 1, "ok": True, "files": []}
    ]  # fmt: skip
    assert sorted(ended.stderr.splitlines()) == [b"of a process", b"printed", b"written"]


def test_options_come_by_the_environment(s3: str):
    helper = Process(
        f"s3://{bucket_support.BUCKET}/x", SACCADE_STORAGE_OPTIONS='{"endpoint_url": "http://127.0.0.1:9"}'
    )
    assert helper.greeting["ready"]
    other = Process(f"s3://{bucket_support.BUCKET}/x", SACCADE_STORAGE_OPTIONS="{")
    assert other.greeting["fault"] == "unavailable"
    assert (other.end(), helper.end()) == (69, 0)


class Faulty(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A client that fails as the next one of `faults` says, then does nothing."""

    protocol = "faulty"
    cachable = False
    faults: ClassVar[list[Exception]] = []
    asked: ClassVar[list[str]] = []
    arrive: ClassVar[list[int]] = []  # bytes of the next fetches; of the others all
    absent: ClassVar[set[str]] = set()

    def _step(self, what: str) -> None:
        self.asked.append(what)
        if self.faults:
            raise self.faults.pop(0)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        self._step("read")
        return b"content"

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        self._step("list")
        return []

    def get_file(self, rpath: str, lpath: str, **_: Any) -> None:
        self._step("fetch")
        Path(lpath).write_bytes(b"content"[: self.arrive.pop(0) if self.arrive else None])

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        self._step("look")
        if path in self.absent:
            raise FileNotFoundError(path)
        return {"name": path, "size": 7, "type": "file"}

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        self._step(mode)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Ask a helper whose client fails with these faults, one after another."""
    fsspec.register_implementation("faulty", Faulty, clobber=True)
    monkeypatch.setattr(_store, "_PAUSE_S", 0.0)

    def ask(do: str, faults: list[Exception], **request: Any) -> dict[str, Any]:
        Faulty.faults[:], Faulty.asked[:] = faults, []
        out = io.BytesIO()
        Helper("faulty://bucket/store", {}, out).serve([json.dumps({"id": 1, "do": do, **request}).encode()])
        answer: dict[str, Any] = json.loads(out.getvalue())
        return answer

    return ask


def refused(code: str) -> OSError:
    """As s3fs has an answer of the server's."""
    error = OSError(errno.EINVAL, "At least one of the pre-conditions you specified did not hold")
    error.__cause__ = Exception(code)
    error.__cause__.response = {"Error": {"Code": code}}  # type: ignore[attr-defined]
    return error


class HttpError(Exception):
    """As gcsfs has one."""

    code = 403


def test_passing_faults_are_tried_four_times(faulty: Callable[..., dict[str, Any]]):
    down = [OSError(errno.EBUSY, "Please reduce your request rate.") for _ in range(4)]
    assert faulty("read", down[:3], name="a") == {"id": 1, "ok": True, "base64": text(b"content")}
    answer = faulty("read", down, name="a")
    assert len(Faulty.asked) == 4
    assert (answer["fault"], answer["errno"]) == ("broken", errno.EBUSY)
    assert answer["line"].startswith("faulty://bucket/store/a: ")
    answer = faulty("list", [RuntimeError("no route") for _ in range(4)], folder="commits")
    assert (answer["fault"], answer["errno"]) == ("broken", 0)  # not an empty folder


@pytest.mark.parametrize(
    "error", [PermissionError("Access Denied"), OSError("Forbidden: b/a\nno"), HttpError("no, 403")]
)
@pytest.mark.parametrize(("do", "request_"), [("read", {"name": "a"}), ("list", {"folder": "commits"}),
                                              ("put", {"name": "a", "base64": ""}),
                                              ("create", {"name": "a", "base64": ""})])  # fmt: skip
def test_what_is_forbidden_is_not_tried_again(
    faulty: Callable[..., dict[str, Any]], error: Exception, do: str, request_: dict[str, str]
):
    answer = faulty(do, [error], **request_)
    assert answer["fault"] == "forbidden"
    assert len(Faulty.asked) == 1


def test_server_that_does_not_name_the_condition_says_that_it_exists(faulty: Callable[..., dict[str, Any]]):
    request = {"name": "claims/1.0", "base64": text(b"other")}
    assert faulty("create", [refused("PreconditionFailed")], **request)["fault"] == "exists"
    mine = {"name": "claims/1.0", "base64": text(b"content")}
    assert faulty("create", [refused("PreconditionFailed")], **mine)["ok"]
    assert faulty("create", [refused("InvalidArgument") for _ in range(4)], **request)["fault"] == "broken"
    lost = [OSError(errno.ECONNRESET, "reset"), FileExistsError("a")]
    assert faulty("create", lost, **mine)["ok"]


class UnsupportedError(Exception):
    """As gcsfs has one."""

    code = 501


@pytest.mark.parametrize("error", [OSError(errno.ENOSYS, "A header implies functionality that is not implemented"),
                                   UnsupportedError(), TypeError("mode")])  # fmt: skip
def test_service_without_exclusive_writes_is_looked_at_first(
    faulty: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, error: Exception
):
    request = {"name": "claims/1.0", "base64": text(b"other")}
    assert faulty("create", [error], **request)["fault"] == "exists"
    assert Faulty.asked[:2] == ["create", "look"]
    assert "overwrite" not in Faulty.asked
    monkeypatch.setattr(Faulty, "absent", {"bucket/store/claims/1.0"})
    assert faulty("create", [error], **request)["ok"]
    assert Faulty.asked == ["create", "look", "overwrite"]


def test_input_that_arrives_short_is_fetched_again(
    faulty: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    request = {"uri": "faulty://bucket/a.mp4", "path": str(tmp_path / "a.mp4")}
    monkeypatch.setattr(Faulty, "arrive", [3, 0])
    assert faulty("fetch", [], **request) == {"id": 1, "ok": True, "bytes": 7, "etag": ""}
    assert (tmp_path / "a.mp4").read_bytes() == b"content"
    monkeypatch.setattr(Faulty, "arrive", [3] * 4)
    answer = faulty("fetch", [], **request)
    assert (answer["fault"], answer["line"]) == ("broken", "faulty://bucket/a.mp4: only 3 of 7 bytes arrived")
    assert not Faulty.arrive


def test_answers_are_whole_lines():
    out = io.BytesIO()
    helper = Helper("memory://lines", {}, out)
    threads = [threading.Thread(target=helper.say, args=({"id": number, "x": "y" * 5000},)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(json.loads(line)["id"] for line in out.getvalue().splitlines()) == list(range(40))
