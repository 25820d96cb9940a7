"""The boxes of views that the viewer draws, against the views that `dump` writes and where the video changes."""
import json
import pathlib

import numpy as np
from program import FolderTest, ffmpeg, need_gl, saccade, saccade_json
from view_support import shoot

WIDTH, HEIGHT, RATE = 640, 360, 10
CHANGED = (400, 200, 440, 224)  # left, top, right, bottom of what appears at 1 s
VIEWS = ("--views", "qwen2.5-vl:200")
COLORS = {"overview": (120, 220, 255), "new": (255, 150, 40), "detail": (130, 230, 130)}


class Boxes(FolderTest):
    def setUp(self):
        folder = pathlib.Path(self.folder)
        need_gl(folder)
        self.clip, self.out = folder / "clip.mkv", folder / "dump"
        if self.out.exists():
            return
        left, top, right, bottom = CHANGED
        ffmpeg("-f", "lavfi", "-i", f"testsrc=size={WIDTH}x{HEIGHT}:rate={RATE}:duration=0.1,loop=loop=24:size=1,"
               f"drawbox=x={left}:y={top}:w={right - left}:h={bottom - top}:color=white:t=fill:enable='gte(t,1)'",
               "-c:v", "ffv1", "-pix_fmt", "bgr0", self.clip)
        made = saccade("dump", self.clip, "-o", self.out, *VIEWS)
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_they_are_the_views_that_a_dump_writes(self):
        written = [json.loads(line) for line in (self.out / "views.jsonl").read_text().splitlines()]
        index = np.load(self.out / "index.npy")
        self.assertTrue({"overview", "new"} <= {view["reason"] for view in written})
        for emission, row in enumerate(index):
            at = f"{row['pts_ns'] / 1e9 + 0.001}={pathlib.Path(self.folder) / 'shot.png'}"
            shown = saccade_json("view", self.clip, "--offscreen", "--screenshot", at, "--size", "64x64", *VIEWS)["views"]
            of_this = [view for view in written if view["emission"] == emission]
            self.assertEqual(shown["last"], [{key: view[key] for key in ("box", "level", "tokens", "reason")} for view in of_this])
            until = [view for view in written if view["emission"] <= emission]
            self.assertEqual((shown["images"], shown["tokens"]), (len(until), sum(view["tokens"] for view in until)))

    def new_view(self):
        """The time and the box of the view of what appears."""
        views = map(json.loads, (self.out / "views.jsonl").read_text().splitlines())
        view = next(view for view in views if view["reason"] == "new")
        left, top, right, bottom = view["box"]
        self.assertTrue(left <= CHANGED[0] and top <= CHANGED[1] and right >= CHANGED[2] and bottom >= CHANGED[3])
        return view["pts_ns"] / 1e9 + 0.001, view

    def test_a_box_lies_around_what_appears_at_any_size(self):
        t, view = self.new_view()
        for scale in (1, 2):
            with self.subTest(scale=scale):
                size = ("--show", "none", "--size", f"{scale * WIDTH}x{scale * HEIGHT}")
                plain, boxed = (shoot(self.folder, self.clip, *size, *more, t=str(t)) for more in ((), VIEWS))
                left, top, right, bottom = (scale * side for side in view["box"])
                x, y = (left + right) // 2, (top + bottom) // 2
                for at in ((y, left), (y, right - 1), (bottom - 1, x), (top, right - 20)):
                    np.testing.assert_array_equal(boxed[at], COLORS["new"], str(at))
                differs = (plain != boxed).any(axis=2)
                self.assertFalse(differs[top + 4:bottom - 4, left + 4:right - 4].any())
                self.assertFalse(differs[bottom + 4:].any() or differs[:, :left - 4].any() or differs[:, right + 60:].any())

    def test_the_overview_is_around_the_frame_and_named(self):
        size = ("--show", "none", "--size", f"{WIDTH}x{HEIGHT}")
        plain, boxed = (shoot(self.folder, self.clip, *size, *more) for more in ((), ("--views", "qwen2.5-vl:80")))
        np.testing.assert_array_equal(boxed[HEIGHT // 2, 0], COLORS["overview"])
        np.testing.assert_array_equal(boxed[0, WIDTH // 2], COLORS["overview"])
        self.assertTrue((plain != boxed)[4:16, 4:80].any())  # its name and tokens

    def test_a_dump_has_no_boxes(self):
        result = saccade("view", self.out, "--offscreen", "--screenshot", "0=x.png", *VIEWS, cwd=self.folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--views: a dump is shown as it was recorded", result.stderr)
