"""`view`: the served viewer from Python: its page, its end, and what is said of what can't be shown."""

from __future__ import annotations

import gc
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import pysaccade as sc
from conftest import skip_or_fail

BOX = "test://box?size=320x180&rate=25&frames=100"


@pytest.fixture
def viewer() -> Iterator[sc.View]:
    try:
        made = sc.view(BOX, pause=True)
    except sc.UnavailableError as error:
        skip_or_fail("gl", str(error))
        raise
    yield made
    made.close()


def read(url: str) -> str:
    with urllib.request.urlopen(url.split("#", maxsplit=1)[0], timeout=30) as page:
        text: str = page.read().decode()
    return text


def test_its_page_is_served_until_it_is_closed(viewer: sc.View):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#[0-9a-f]{32}", viewer.url)
    assert "<canvas" in read(viewer.url)
    assert viewer.url in repr(viewer)
    viewer.close()
    viewer.close()
    assert not viewer.is_running
    with pytest.raises(urllib.error.URLError):
        read(viewer.url)
    assert "ended" in repr(viewer)
    assert "ended" in viewer._repr_html_()


def test_a_notebook_gets_a_link_and_the_port(viewer: sc.View):
    text, port = viewer._repr_html_(), int(viewer.url.split(":")[2].split("/")[0])
    assert f"const PORT = {port};" in text
    assert f'href="{viewer.url}"' in text


def test_it_ends_with_its_name_and_with_with():
    with sc.view(BOX, pause=True, view="lod") as viewer:
        url = viewer.url
        read(url)
    assert not viewer.is_running
    other = sc.view(BOX, pause=True)
    url = other.url
    del other
    gc.collect()
    with pytest.raises(urllib.error.URLError):
        read(url)


def test_what_can_not_be_shown_is_said():
    with pytest.raises(sc.InputError, match="none"):
        sc.view("/no/such/none.mp4")
    with pytest.raises(TypeError, match="option"):
        sc.view(BOX, sped=2)
    with pytest.raises(ValueError, match="view"):
        sc.view(BOX, view="sideways")
    with pytest.raises(ValueError, match="height"):
        sc.view(BOX, height=3)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(sc.UnavailableError, match=f":{port}"):
            sc.view(BOX, serve=f"127.0.0.1:{port}")


@pytest.mark.parametrize("key", ["json", "print_config", "offscreen"])
def test_what_shows_no_page_is_refused(key: str):
    with pytest.raises(TypeError, match=f"option {key}: use the command line"):
        sc.view("test://box", **{key: True})


def test_a_socket_in_the_file_system_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="use ADDR:PORT"):
        sc.view("test://box", serve=f"unix:{tmp_path}/s")
