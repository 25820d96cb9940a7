"""libavfilter and libavdevice are loaded by what needs them, and by nothing else; missing, they are named."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from program import make_clip, saccade

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void* dlopen(const char* name, int flags) {
  void* (*real)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  if (name && (strstr(name, "libavfilter") || strstr(name, "libavdevice"))) name = "libnot-installed.so.0";
  return real(name, flags);
}
"""


class LateLibraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = pathlib.Path(cls.folder.name)
        (path / "shim.c").write_text(SHIM)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path / "shim.so", path / "shim.c", "-ldl"], check=True)
        checks = os.environ.get("ASAN_OPTIONS", "")
        cls.without = {**os.environ, "LD_PRELOAD": str(path / "shim.so"),
                       "ASAN_OPTIONS": f"{checks}:verify_asan_link_order=0".lstrip(":")}
        cls.plain = make_clip(path / "plain.mp4", "testsrc2=size=64x48:rate=25:duration=0.4")
        cls.other = str(path / "422.mkv")
        subprocess.run(["ffmpeg", "-v", "error", "-i", cls.plain, "-c:v", "ffv1", "-pix_fmt", "yuv422p", cls.other], check=True)

    def dump(self, *arguments, **options):
        with tempfile.TemporaryDirectory() as out:
            return saccade("dump", *arguments, "-o", out + "/d", **options)

    def refuses(self, library, *arguments):
        self.assertEqual(self.dump(*arguments).returncode, 0)  # where both are there
        result = self.dump(*arguments, env=self.without)
        self.assertEqual(result.returncode, 69, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in (library, "libnot-installed.so.0", "install"):
            self.assertIn(word, result.stderr)

    def test_a_file_that_passes_straight_through_needs_neither(self):
        result = self.dump(self.plain, env=self.without)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_conversion_needs_the_filters(self):
        self.refuses("libavfilter", self.other)

    def test_so_does_a_filter(self):
        self.refuses("libavfilter", self.plain, "--vf", "hflip")

    def test_a_graph_needs_the_devices(self):
        self.refuses("libavdevice", "lavfi:testsrc2=size=64x48:duration=0.2")

    def test_info_says_what_is_missing(self):
        result = saccade("info", env=self.without)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("libavfilter missing", result.stdout)


if __name__ == "__main__":
    unittest.main()
