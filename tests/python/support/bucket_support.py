"""An S3-compatible server on loopback (moto's), as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BUCKET = "videos"


@contextlib.contextmanager
def s3_server(log: Path) -> Iterator[str]:
    """Run the server; gives its URL. Requests are logged to `log`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(600):
                assert process.poll() is None, log.read_text()
                with (
                    contextlib.suppress(urllib.error.URLError, ConnectionError),
                    urllib.request.urlopen(url, timeout=5),
                ):
                    break
                time.sleep(0.1)
            yield url
        finally:
            process.kill()


def environment(url: str) -> dict[str, str]:
    """What a process needs to use the server, in the variables of AWS's own tools."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def file_system(url: str) -> Any:
    """The bucket through s3fs."""
    import fsspec

    return fsspec.filesystem("s3", client_kwargs={"endpoint_url": url}, key="testing", secret="testing",
                             use_listings_cache=False)  # fmt: skip


def put_tree(url: str, folder: Path, prefix: str) -> None:
    """Copy a folder into the bucket."""
    files = file_system(url)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files.pipe_file(f"{BUCKET}/{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def tree(url: str, prefix: str) -> dict[str, bytes]:
    """All files below a prefix, save those that are removed meanwhile."""
    files = file_system(url)
    top, found = f"{BUCKET}/{prefix}/", {}
    for path in files.find(top):
        with contextlib.suppress(FileNotFoundError):
            found[path.removeprefix(top)] = files.cat_file(path)
    return found


def markers(content: dict[str, bytes]) -> list[dict[str, Any]]:
    """The commit markers of a tree."""
    return [json.loads(value) for name, value in content.items() if name.startswith("commits/")]


def set_environment(url: str) -> None:
    """For this process."""
    os.environ.update(environment(url))
