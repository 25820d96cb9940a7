"""Includes and links go one way: app -> ui -> pipeline -> kernels -> gpu. Outside libraries stay in their places."""
import pathlib
import re
import tempfile
import unittest

import repository

LAYERS = ("app", "ui", "pipeline", "kernels", "gpu")  # each may use itself and what is to its right
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# (what is included, where it may be), both matched from the beginning of the path.
OUTSIDE = (
    (r"lib(av|sw|post)\w+/", r"pipeline/(decoder|frame)[^/]*$|app/preview[^/]*$"),
    (r"imgui|implot", r"ui/"),
    (r"(GL|GLES\d?|EGL|GLFW|KHR|glad)/|glad", r"gpu/|kernels/gl/|ui/"),
    (r"cuda[^/]*\.(h|hpp)$|cuda/|cooperative_groups|surface_functions|cub/|nv(rtc|cuvid)", r".*\.cuh?$|gpu/cuda_[^/]*$"),
    (r"hwy/", r"kernels/cpu/"),
    (r"CLI/|toml\+\+", r"app/"),
)


def resolve(root, source, name):
    """The project file that an include of `source` names, or None when it is an outside one."""
    for candidate in (root / name, (root / source).parent / name):
        if candidate.is_file():
            return pathlib.PurePosixPath(candidate.resolve().relative_to(root.resolve()).as_posix())
    return None


def internal_violation(source, target):
    source, target = pathlib.PurePosixPath(source), pathlib.PurePosixPath(target)
    shared, cpu = ("kernels", "shared"), ("kernels", "cpu")
    if target.parts[0] not in LAYERS:
        return f"{source} includes {target}, which is in no layer"
    if LAYERS.index(target.parts[0]) < LAYERS.index(source.parts[0]):
        return f"{source} includes {target}: {source.parts[0]} is below {target.parts[0]}"
    if source.parts[:2] == shared and target.parts[:2] != shared:
        return f"{source} includes {target}: kernels/shared includes nothing of ours"
    if source.parts[:2] == cpu and target.parts[0] == "gpu":
        return f"{source} includes {target}: kernels/cpu includes no gpu"
    return None


def include_violations(root):
    found = []
    for path in repository.files(root, LAYERS):
        source = path.as_posix()
        for bracket, name in INCLUDE.findall((root / path).read_text(encoding="utf-8")):
            target = resolve(root, path, name) if bracket == '"' or name.split("/")[0] in LAYERS else None
            if target is not None:
                violation = internal_violation(source, target)
                if violation:
                    found.append(violation)
                continue
            for outside, allowed in OUTSIDE:
                if re.match(outside, name) and not re.match(allowed, source):
                    found.append(f"{source} includes <{name}>, which belongs in {allowed}")
    return found


def link_violations(root):
    """CMake: each layer with sources is the target saccade_<layer>, and links only to targets below it."""
    found = []
    command = re.compile(r"(?:saccade_library|target_link_libraries)\s*\(\s*(saccade_\w+)([^)]*)\)")
    for layer in LAYERS:
        if not repository.files(root, (layer,)):
            continue
        listing = root / layer / "CMakeLists.txt"
        text = listing.read_text(encoding="utf-8") if listing.exists() else ""
        text = re.sub(r"#.*", "", text)
        if not re.search(rf"saccade_library\s*\(\s*saccade_{layer}\b", text):
            found.append(f"{layer}/CMakeLists.txt does not make the target saccade_{layer}")
        for target, arguments in command.findall(text):
            if target != f"saccade_{layer}":
                found.append(f"{layer}/CMakeLists.txt changes {target}, a target of another folder")
            for linked in re.findall(r"\bsaccade_(\w+)", arguments):
                if linked in LAYERS and LAYERS.index(linked) <= LAYERS.index(layer):
                    found.append(f"saccade_{layer} links saccade_{linked}, which is not below it")
    return found


class Layering(unittest.TestCase):
    def test_includes_go_one_way(self):
        self.assertEqual(include_violations(repository.ROOT), [])

    def test_links_go_one_way(self):
        self.assertEqual(link_violations(repository.ROOT), [])

    def test_every_layer_is_seen(self):
        seen = {path.parts[0] for path in repository.files(repository.ROOT, LAYERS)}
        self.assertLessEqual({"app", "pipeline", "kernels"}, seen)


class PlantedViolations(unittest.TestCase):
    """The checks above find what they are there to find."""

    def plant(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    def test_includes(self):
        headers = {"app/a.h": "", "pipeline/p.h": "", "kernels/k.h": "", "gpu/g.h": "", "kernels/shared/s.h": "", "ui/u.h": ""}
        for source, text in (
            ("gpu/x.cpp", '#include "kernels/k.h"'),
            ("kernels/x.cpp", '#include "pipeline/p.h"'),
            ("kernels/x.cpp", '#  include  <pipeline/p.h>'),
            ("kernels/x.cpp", '#include "../pipeline/p.h"'),
            ("pipeline/x.h", '#include "ui/u.h"'),
            ("ui/x.cpp", '#include "app/a.h"'),
            ("kernels/shared/x.h", '#include "kernels/k.h"'),
            ("kernels/cpu/x.cpp", '#include "gpu/g.h"'),
            ("pipeline/run/pipeline.cpp", 'extern "C" {\n#include <libavutil/frame.h>\n}'),
            ("app/info/info.cpp", "#include <libavformat/avformat.h>"),
            ("kernels/cpu/x.cpp", "#include <cuda_runtime.h>"),
            ("kernels/x.h", "#include <cuda_fp16.h>"),
            ("pipeline/x.cpp", "#include <imgui.h>"),
            ("pipeline/x.cpp", "#include <GL/gl.h>"),
            ("app/x.cpp", "#include <EGL/egl.h>"),
            ("app/x.cpp", "#include <glad/glad.h>"),
        ):
            with self.subTest(source=source, text=text):
                self.assertEqual(len(include_violations(self.plant({**headers, source: text + "\n"}))), 1)

    def test_allowed_includes(self):
        root = self.plant({
            "app/a.cpp": '#include "pipeline/p.h"\n#include "kernels/k.h"\n', "pipeline/p.h": '#include "kernels/k.h"\n',
            "kernels/k.h": '#include "kernels/shared/s.h"\n#include <vector>\n', "kernels/shared/s.h": '#include "t.h"\n',
            "kernels/shared/t.h": "", "pipeline/decoder_open.cpp": "#include <libavformat/avformat.h>\n",
            "kernels/cuda/d.cu": "#include <cuda_runtime.h>\n", "gpu/cuda_x.h": "#include <cuda_runtime.h>\n",
            "kernels/gl/g.cpp": "#include <glad/glad.h>\n", "ui/u.cpp": "#include <imgui.h>\n"})
        self.assertEqual(include_violations(root), [])

    def test_links(self):
        good = {"gpu/g.cpp": "", "gpu/CMakeLists.txt": "saccade_library(saccade_gpu DEPENDS fmt::fmt)",
                "kernels/k.cpp": "", "kernels/CMakeLists.txt": "saccade_library(saccade_kernels DEPENDS saccade_gpu)"}
        self.assertEqual(link_violations(self.plant(good)), [])
        for change in (
            {"gpu/CMakeLists.txt": "saccade_library(saccade_gpu DEPENDS saccade_kernels)"},
            {"gpu/CMakeLists.txt": "saccade_library(saccade_gpu)\ntarget_link_libraries(saccade_gpu PUBLIC saccade_kernels)"},
            {"kernels/CMakeLists.txt": "add_library(other k.cpp)"},
            {"ui/u.cpp": ""},
        ):
            with self.subTest(change=change):
                self.assertGreaterEqual(len(link_violations(self.plant({**good, **change}))), 1)


if __name__ == "__main__":
    unittest.main()
