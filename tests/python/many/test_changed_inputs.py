"""Inputs that are not what they were when they were planned."""

from __future__ import annotations

import json
from pathlib import Path

from bucket_support import BUCKET, file_system, markers, tree
from conftest import import_or_skip
from many_support import OPTIONS, counts, make_clips, python_work, saccade

import_or_skip("fsspec")


def test_object_that_changed_after_the_plan_is_given_up_and_can_be_planned_again(s3: str, tmp_path: Path, ffmpeg: str):
    """As many bytes, and another ETag."""
    clips, files = make_clips(ffmpeg, tmp_path / "in", 3), file_system(s3)
    for clip in clips:
        files.put_file(str(clip), f"{BUCKET}/changing/{clip.name}")
    python_work("list", f"s3://{BUCKET}/changing", "-o", tmp_path / "list.jsonl")
    store, again = f"s3://{BUCKET}/changed", f"s3://{BUCKET}/changed-again"
    saccade("plan", tmp_path / "list.jsonl", "-o", store, *OPTIONS)
    planned = [json.loads(line)["input"] for line in tree(s3, "changed")["plan/items.jsonl"].splitlines()]
    assert {facts["bytes"] for facts in planned} == {clip.stat().st_size for clip in clips}
    whole = clips[1].read_bytes()
    files.pipe_file(f"{BUCKET}/changing/{clips[1].name}", whole[:-1] + bytes([whole[-1] ^ 1]))
    files.pipe_file(f"{BUCKET}/changing/{clips[2].name}", whole + b"more")
    saccade("work", store, expect=[3])
    parts = [text for name, text in tree(s3, "changed").items() if name.startswith("quarantine/")]
    lines = [json.loads(line) for text in parts for line in text.splitlines()]
    assert sorted((line["class"], line["uri"]) for line in lines) == [
        ("changed", f"s3://{BUCKET}/changing/{clip.name}") for clip in clips[1:]
    ]
    assert sorted("ETag" in line["line"] for line in lines) == [False, True]
    saccade("retry", store, "-o", again, "--class", "changed")
    saccade("work", again)
    assert counts(markers(tree(s3, "changed-again"))) == {"items": 2, "done": 2, "damaged": 0, "quarantined": 0}
