"""What git tracks is the project's: nothing that a program left behind, and nothing large."""
import subprocess
import unittest

from repository import ROOT

TOP = {".ci", ".clang-format", ".editorconfig", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "app", "assets",
       "bench", "capi", "cmake", "docs", "examples", "gpu", "include", "kernels", "pipeline", "pyproject.toml", "python", "scripts", "tests", "ui"}
MOST_BYTES = 1 << 20


class Tree(unittest.TestCase):
    def setUp(self):
        if not (ROOT / ".git").exists():
            self.skipTest("not a git checkout")
        listed = subprocess.run(["git", "-C", ROOT, "-c", f"safe.directory={ROOT}", "ls-files", "-z"], capture_output=True, check=True).stdout
        self.paths = [path for path in listed.decode().split("\0") if path]

    def test_the_top_level_is_known(self):
        self.assertEqual({path.partition("/")[0] for path in self.paths} - TOP, set())

    def test_no_file_is_large(self):
        sizes = {path: (ROOT / path).lstat().st_size for path in self.paths if (ROOT / path).is_file()}
        self.assertGreater(len(sizes), 500)
        self.assertEqual({path: size for path, size in sizes.items() if size > MOST_BYTES}, {})


if __name__ == "__main__":
    unittest.main()
