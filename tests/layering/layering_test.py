"""Includes and links go one way: app -> ui -> pipeline -> kernels -> gpu, and beside them capi -> pipeline. Each folder says
which folders it may use, and where an outside library may be included is said by folder."""
import collections
import pathlib
import re
import tempfile
import unittest

import repository

LAYERS = ("app", "ui", "capi", "pipeline", "kernels", "gpu")  # each links to what is to its right
APART = (("app", "capi"), ("ui", "capi"))  # but these never meet
MOST_FILES = 25  # of a folder
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# Folder -> the folders it uses besides itself. A new one is a decision and stands here first; one that no file uses any
# more goes: test_every_arrow_is_used. Nothing here may lead back: test_the_rules_have_no_circle.
MAY_USE = {
    "gpu": (),
    "gpu/gl": ("gpu",),
    "gpu/cuda": ("gpu",),
    "gpu/nvdec": (),
    "gpu/nvcuvid": ("gpu/nvdec",),
    "gpu/interop": ("gpu/gl", "gpu/cuda"),
    "kernels/shared": (),
    "kernels": ("kernels/shared",),
    "kernels/cpu": ("kernels/shared", "kernels"),
    "kernels/gl": ("gpu/gl", "kernels/shared", "kernels", "kernels/cpu"),
    "kernels/cuda/launch": ("gpu/cuda", "kernels/shared", "kernels"),
    "kernels/cuda/frames": ("gpu/cuda", "kernels"),
    "kernels/cuda": ("gpu/cuda", "kernels/shared", "kernels", "kernels/cuda/launch"),
    "kernels/interop": ("gpu/gl", "gpu/cuda", "gpu/interop", "kernels", "kernels/cpu", "kernels/gl", "kernels/cuda/launch",
                        "kernels/cuda"),
    "kernels/picture": ("kernels/shared", "kernels"),
    "kernels/tensor": ("kernels/shared",),
    "kernels/tensor/cpu": ("kernels/tensor",),
    "kernels/tensor/cuda": ("gpu", "gpu/cuda", "kernels/tensor"),
    "pipeline": ("gpu", "kernels"),
    "pipeline/source/frame": ("kernels", "pipeline"),
    "pipeline/source/ffmpeg": ("gpu", "gpu/cuda", "gpu/nvdec", "pipeline", "pipeline/source/frame"),
    "pipeline/source/tags": ("pipeline/source/ffmpeg",),
    "pipeline/source/demux": ("pipeline", "pipeline/source/frame", "pipeline/source/ffmpeg", "pipeline/source/tags",
                              "pipeline/source/live"),
    "pipeline/source/convert": ("gpu", "kernels", "kernels/cuda/frames", "pipeline", "pipeline/source/frame",
                                "pipeline/source/ffmpeg"),
    "pipeline/source/decode": ("gpu", "gpu/nvdec", "pipeline", "pipeline/source/frame", "pipeline/source/ffmpeg",
                               "pipeline/source/demux", "pipeline/source/convert"),
    "pipeline/source/live": ("pipeline", "pipeline/source/frame", "pipeline/source/ffmpeg"),
    "pipeline/source/screen/wayland": ("kernels", "pipeline"),
    "pipeline/source/screen": ("kernels", "pipeline", "pipeline/source/frame", "pipeline/source/screen/wayland"),
    "pipeline/source/test": ("kernels", "pipeline", "pipeline/source/frame"),
    "pipeline/source/push": ("kernels", "kernels/cuda/frames", "pipeline", "pipeline/source/frame"),
    "pipeline/source": ("pipeline", "pipeline/source/frame", "pipeline/source/demux", "pipeline/source/decode",
                        "pipeline/source/live", "pipeline/source/screen", "pipeline/source/test"),
    "pipeline/gaze/lattice": ("kernels/shared", "kernels", "pipeline"),
    "pipeline/gaze": ("kernels", "pipeline", "pipeline/gaze/lattice"),
    "pipeline/gaze/scanpath": ("kernels/shared", "kernels", "pipeline", "pipeline/gaze/lattice", "pipeline/gaze",
                               "pipeline/gaze/recorded"),
    "pipeline/gaze/novelty": ("kernels", "kernels/cpu", "pipeline/gaze/lattice", "pipeline/gaze",
                              "pipeline/gaze/scanpath"),
    "pipeline/gaze/recorded": ("pipeline",),
    "pipeline/gaze/weights": ("kernels/shared", "kernels", "pipeline"),
    "pipeline/gaze/allocate": ("kernels", "pipeline/gaze/lattice", "pipeline/gaze", "pipeline/gaze/weights"),
    "pipeline/views": ("kernels/shared", "kernels", "pipeline", "pipeline/gaze/allocate", "pipeline/gaze/weights"),
    "pipeline/backend": ("gpu", "gpu/gl", "gpu/cuda", "gpu/nvdec", "gpu/interop", "kernels", "kernels/cpu", "kernels/gl",
                         "kernels/cuda/launch", "kernels/cuda", "kernels/interop", "pipeline", "pipeline/source/frame"),
    "pipeline/run/changed": ("kernels/shared", "kernels", "pipeline/gaze/lattice"),
    "pipeline/run": ("gpu", "kernels", "pipeline", "pipeline/source/frame", "pipeline/source", "pipeline/gaze/lattice",
                     "pipeline/gaze", "pipeline/gaze/allocate", "pipeline/gaze/scanpath", "pipeline/views",
                     "pipeline/backend", "pipeline/run/changed"),
    "pipeline/run/work": (),
    "pipeline/options": ("kernels", "pipeline", "pipeline/source/frame", "pipeline/source/ffmpeg",
                         "pipeline/gaze/lattice", "pipeline/backend", "pipeline/run"),
    "capi": ("gpu", "pipeline", "pipeline/backend", "pipeline/options"),
    "capi/tensor": ("gpu/cuda", "kernels/picture", "kernels/tensor", "pipeline/gaze/lattice", "pipeline/options",
                    "capi"),
    "capi/stream": ("gpu", "kernels", "pipeline/source/push", "pipeline/source", "pipeline/gaze/allocate",
                    "pipeline/backend", "pipeline/run", "pipeline/options", "pipeline/views", "capi"),
    "ui/picture": ("gpu/gl", "kernels/shared", "kernels", "pipeline/source/frame", "pipeline/views", "pipeline/run"),
    "ui/tuning": ("kernels", "pipeline", "pipeline/gaze/lattice", "pipeline/gaze/scanpath", "pipeline/run",
                  "ui/picture"),
    "ui/compare": ("pipeline", "pipeline/gaze/lattice", "pipeline/run", "ui/picture", "ui/tuning"),
    "ui/receiver": ("gpu/gl", "kernels", "pipeline/gaze/weights", "pipeline/gaze/allocate", "ui/picture"),
    "ui/panel": ("gpu/gl", "kernels", "pipeline/views", "ui/picture", "ui/tuning", "ui/receiver"),
    "ui/viewer": ("gpu/gl", "pipeline", "pipeline/source/frame", "pipeline/backend", "pipeline/run", "ui/picture",
                  "ui/tuning", "ui/compare", "ui/receiver", "ui/panel"),
    "ui/input": ("pipeline", "ui/tuning", "ui/viewer"),
    "ui/window": ("pipeline", "pipeline/source/frame", "pipeline/backend", "pipeline/run", "ui/picture", "ui/viewer", "ui/input"),
    "ui/web/wire": ("pipeline", "ui/picture", "ui/input"),
    "ui/web/server": ("pipeline", "ui/web/wire"),
    "ui/web": ("gpu/gl", "pipeline", "pipeline/backend", "pipeline/run", "ui/picture", "ui/viewer", "ui/input", "ui/web/wire",
               "ui/web/server"),
    "app": ("pipeline",),
    "app/files": ("pipeline", "pipeline/source/frame"),
    "app/process": ("pipeline", "pipeline/run"),
    # ui/picture/view.h has the names of the views.
    "app/options": ("gpu/cuda", "kernels", "pipeline", "pipeline/views", "pipeline/run", "pipeline/options", "ui/picture", "app",
                    "app/files", "app/process"),
    "app/media": ("kernels/picture", "pipeline", "pipeline/source/frame", "pipeline/source/convert", "app/files"),
    "app/json": ("pipeline/run", "app/files", "app/options"),
    "app/dump/views": ("pipeline/run", "pipeline/views", "app/files", "app/options", "app/json", "app/media"),
    "app/dump": ("gpu", "gpu/nvdec", "pipeline", "pipeline/source/frame", "pipeline/backend", "pipeline/run",
                 "pipeline/run/work", "pipeline/options", "app", "app/files", "app/process", "app/options", "app/json",
                 "app/dump/views"),
    "app/work/process": ("pipeline", "app/json"),
    "app/work/store": ("pipeline", "app/files", "app/process", "app/json"),
    "app/work/claim": ("pipeline", "app/json", "app/work/store"),
    "app/work/plan": ("pipeline", "pipeline/source", "pipeline/options", "app", "app/files", "app/process",
                      "app/options", "app/json", "app/work/process", "app/work/store"),
    "app/work/commit": ("pipeline", "app", "app/files", "app/process", "app/options", "app/json", "app/dump",
                        "app/work/store", "app/work/plan"),
    "app/work/judge": ("pipeline", "app/json", "app/work/plan"),
    "app/work/run": ("pipeline", "pipeline/backend", "pipeline/options", "app", "app/files", "app/process",
                     "app/options", "app/dump", "app/work/process", "app/work/store", "app/work/claim", "app/work/plan",
                     "app/work/commit", "app/work/judge"),
    "app/work": ("gpu", "pipeline", "pipeline/backend", "pipeline/options", "app", "app/files", "app/process",
                 "app/options", "app/json", "app/dump", "app/work/store", "app/work/claim", "app/work/plan",
                 "app/work/commit", "app/work/judge", "app/work/run"),
    "app/info": ("gpu/gl", "gpu/cuda", "gpu/nvdec", "kernels", "kernels/cpu", "pipeline", "pipeline/source/frame",
                 "pipeline/source/ffmpeg", "pipeline/source/live", "pipeline/source/screen", "pipeline/source", "pipeline/backend",
                 "pipeline/run", "app", "app/process", "app/options", "app/media", "app/json"),
    "app/profile": ("pipeline", "pipeline/source", "pipeline/run", "pipeline/options", "app", "app/process",
                    "app/options", "app/json", "app/info"),
    "app/reconstruct": ("kernels/shared", "kernels", "kernels/picture", "pipeline", "pipeline/source/frame",
                        "pipeline/source", "app", "app/files", "app/process", "app/options", "app/media", "app/dump"),
    "app/view": ("pipeline", "pipeline/source/frame", "pipeline/source/screen", "ui/picture", "ui/viewer", "ui/window", "ui/web/wire", "ui/web",
                 "app", "app/process", "app/options", "app/media", "app/json", "app/reconstruct"),
    "app/main": ("gpu", "pipeline", "pipeline/source/ffmpeg", "app", "app/process", "app/options"),
}

# (what is included, the folders where it may be; a folder stands for what is below it, too)
OUTSIDE = (
    (r"lib(av|sw|post)\w+/", ("pipeline/source", "app/media")),
    (r"imgui|implot", ("ui",)),
    (r"fontconfig/", ("ui/viewer",)),
    (r"boost/", ("ui/web/server",)),
    (r"turbojpeg", ("ui/web",)),
    (r"(GL|GLES\d?|EGL|KHR|glad)/|glad", ("gpu/gl", "gpu/interop", "kernels/gl", "kernels/interop", "ui")),
    (r"GLFW/", ("ui/window",)),
    (r"cuda[^/]*\.(h|hpp)$|cuda/|cooperative_groups|surface_functions|cub/|nv(rtc|cuvid)",
     ("gpu/cuda", "gpu/interop", "kernels/cuda", "kernels/interop", "kernels/tensor")),
    (r"ffnvcodec/", ("gpu/nvdec", "gpu/nvcuvid")),
    (r"hwy/", ("kernels/cpu", "kernels/tensor/cpu")),
    (r"CLI/|toml\+\+", ("app/options",)),
    (r"nlohmann/", ("app", "pipeline/run", "ui/web")),
    (r"spdlog/", ("app",)),
    (r"saccade/", ("capi",)),
)


def folder_of(path):
    return pathlib.PurePosixPath(path).parent.as_posix()


def resolve(root, source, name):
    """The project file that an include of `source` names, or None when it is an outside one."""
    for candidate in (root / name, (root / source).parent / name):
        if candidate.is_file():
            return pathlib.PurePosixPath(candidate.resolve().relative_to(root.resolve()).as_posix())
    return None


def includes(root):
    """(source, its folder, the name as written, the project file that it is or None), for every include of every layer."""
    for path in repository.files(root, LAYERS):
        for bracket, name in INCLUDE.findall((root / path).read_text(encoding="utf-8")):
            target = resolve(root, path, name) if bracket == '"' or name.split("/")[0] in LAYERS else None
            yield path.as_posix(), folder_of(path.as_posix()), name, target


def include_violations(root, may_use=None):
    may_use = MAY_USE if may_use is None else may_use
    folders = {folder_of(path.as_posix()) for path in repository.files(root, LAYERS)}
    found = [f"the folder {folder} is not in MAY_USE" for folder in sorted(folders - set(may_use))]
    for source, folder, name, target in includes(root):
        if folder in may_use:
            if target is not None:
                if folder_of(target) != folder and folder_of(target) not in may_use[folder]:
                    found.append(f"{source} includes {target}: {folder} may not use {folder_of(target)}")
                continue
            for outside, allowed in OUTSIDE:
                if re.match(outside, name) and not any(folder == a or folder.startswith(a + "/") for a in allowed):
                    found.append(f"{source} includes <{name}>, which belongs in {', '.join(allowed)}")
    return found


def crowded(root):
    """Folder -> files, of those with more than MOST_FILES."""
    paths = repository.files(root, LAYERS) + repository.files(root, ("tests",), repository.CODE + (".c", ".py"))
    counts = collections.Counter(folder_of(path.as_posix()) for path in paths)
    return {folder: count for folder, count in counts.items() if count > MOST_FILES}


def unused_arrows(root, may_use=None):
    """What MAY_USE allows and nobody does."""
    may_use = MAY_USE if may_use is None else may_use
    used = {(folder, folder_of(target)) for _, folder, _, target in includes(root) if target is not None}
    return [f"{folder} -> {target}" for folder, targets in may_use.items() for target in targets if (folder, target) not in used]


def circle(may_use):
    """A circle of folders, as a list; empty when there is none."""
    done, on_way = set(), []

    def visit(folder):
        if folder in on_way:
            return on_way[on_way.index(folder):] + [folder]
        if folder in done:
            return []
        on_way.append(folder)
        for target in may_use.get(folder, ()):
            found = visit(target) if target != folder else []
            if found:
                return found
        on_way.pop()
        done.add(folder)
        return []

    for folder in may_use:
        found = visit(folder)
        if found:
            return found
    return []


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
                if linked not in LAYERS:
                    continue
                if LAYERS.index(linked) <= LAYERS.index(layer) or (layer, linked) in APART:
                    found.append(f"saccade_{layer} links saccade_{linked}, which is not below it")
    return found


class Layering(unittest.TestCase):
    def test_includes_go_one_way(self):
        self.assertEqual(include_violations(repository.ROOT), [])

    def test_every_arrow_is_used(self):
        self.assertEqual(unused_arrows(repository.ROOT), [])

    def test_the_rules_have_no_circle(self):
        self.assertEqual(circle(MAY_USE), [])
        for folder, targets in MAY_USE.items():
            layer = LAYERS.index(folder.split("/")[0])
            for target in targets:
                self.assertIn(target, MAY_USE)
                self.assertLessEqual(layer, LAYERS.index(target.split("/")[0]), f"{folder} is below {target}")

    def test_no_folder_is_crowded(self):
        self.assertEqual(crowded(repository.ROOT), {})

    def test_the_document_says_where_outside_libraries_are(self):
        text = (repository.ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
        said = re.search(r"^Outside libraries keep to their folders:.*?\n\n", text, re.MULTILINE | re.DOTALL)
        self.assertIsNotNone(said)
        allowed = {folder for library, folders in OUTSIDE if library != r"saccade/" for folder in folders}
        self.assertEqual(set(re.findall(r"`([a-z/]+)`", said[0])), allowed)

    def test_links_go_one_way(self):
        self.assertEqual(link_violations(repository.ROOT), [])

    def test_the_installed_headers_need_nothing_of_ours(self):
        paths = repository.files(repository.ROOT, ("include",))
        self.assertEqual([path.name for path in paths], ["picture.h", "saccade.h", "saccade.hpp", "tensor.h", "views.h"])
        for path in paths:
            for _, name in INCLUDE.findall((repository.ROOT / path).read_text(encoding="utf-8")):
                self.assertRegex(name, r"^(saccade/(saccade|tensor)\.h|[a-z_]+(\.h)?)$", path)

    def test_the_pipeline_knows_no_backend_by_name(self):
        """A backend and the decoder that goes with it are named where they are made: in their own rooms, and by sources."""
        named = re.compile(r"\bBackend::k\w+|\bHwDecode::k(?!No\b)\w+|\w*[a-z]_cuda_\w+\(")
        found = [f"{path}: {hit}" for path in repository.files(repository.ROOT, ("pipeline",))
                 if not path.as_posix().startswith(("pipeline/backend/", "pipeline/source/"))
                 for hit in named.findall((repository.ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])

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
        headers = {"app/a.h": "", "capi/c.h": "", "pipeline/p.h": "", "kernels/k.h": "", "gpu/g.h": "", "kernels/shared/s.h": "",
                   "ui/picture/u.h": "", "pipeline/run/r.h": "", "pipeline/source/decode/d.h": ""}
        for source, text in (
            ("gpu/x.cpp", '#include "kernels/k.h"'),
            ("kernels/x.cpp", '#include "pipeline/p.h"'),
            ("kernels/x.cpp", '#  include  <pipeline/p.h>'),
            ("kernels/x.cpp", '#include "../pipeline/p.h"'),
            ("pipeline/x.h", '#include "ui/picture/u.h"'),
            ("ui/picture/x.cpp", '#include "app/a.h"'),
            ("kernels/shared/x.h", '#include "kernels/k.h"'),
            ("pipeline/gaze/x.h", '#include "pipeline/run/r.h"'),
            ("pipeline/source/convert/x.h", '#include "pipeline/source/decode/d.h"'),
            ("pipeline/new_room/x.h", ""),
            ("kernels/cpu/x.cpp", '#include "gpu/g.h"'),
            ("app/x.cpp", '#include "capi/c.h"'),
            ("app/x.cpp", "#include <saccade/saccade.h>"),
            ("capi/x.cpp", '#include "app/a.h"'),
            ("pipeline/x.cpp", '#include "capi/c.h"'),
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
            "app/options/a.cpp": '#include "pipeline/run/p.h"\n#include "kernels/k.h"\n', "pipeline/run/p.h": '#include "kernels/k.h"\n',
            "kernels/k.h": '#include "kernels/shared/s.h"\n#include <vector>\n', "kernels/shared/s.h": '#include "t.h"\n',
            "kernels/shared/t.h": "", "pipeline/source/demux/open.cpp": "#include <libavformat/avformat.h>\n",
            "kernels/cuda/d.cu": "#include <cuda_runtime.h>\n", "gpu/cuda/x.h": "#include <cuda_runtime.h>\n",
            "kernels/gl/g.cpp": "#include <glad/glad.h>\n", "ui/panel/u.cpp": "#include <imgui.h>\n"})
        self.assertEqual(include_violations(root), [])

    def test_arrows_that_nobody_uses(self):
        root = self.plant({"app/a.cpp": '#include "pipeline/p.h"\n#include "b.h"\n', "app/b.h": "", "pipeline/p.h": "", "gpu/g.h": ""})
        allowed = {"app": ("pipeline", "gpu"), "pipeline": ("gpu",), "gpu": ()}
        self.assertEqual(unused_arrows(root, allowed), ["app -> gpu", "pipeline -> gpu"])
        self.assertEqual(unused_arrows(root, {"app": ("pipeline",), "pipeline": (), "gpu": ()}), [])

    def test_crowded_folders(self):
        files = {f"gpu/f{i}.cpp": "" for i in range(MOST_FILES)} | {f"tests/gpu/f{i}_test.cpp": "" for i in range(MOST_FILES)}
        self.assertEqual(crowded(self.plant(files)), {})
        for name, folder in (("gpu/one.h", "gpu"), ("tests/gpu/one.h", "tests/gpu"), ("tests/gpu/one_test.py", "tests/gpu")):
            with self.subTest(name=name):
                self.assertEqual(crowded(self.plant({**files, name: ""})), {folder: MOST_FILES + 1})

    def test_circles(self):
        self.assertEqual(circle({"a": ("b",), "b": ("c",), "c": ()}), [])
        self.assertEqual(circle({"a": ("b",), "b": ("c",), "c": ("b",)}), ["b", "c", "b"])

    def test_links(self):
        good = {"gpu/g.cpp": "", "gpu/CMakeLists.txt": "saccade_library(saccade_gpu DEPENDS fmt::fmt)",
                "kernels/k.cpp": "", "kernels/CMakeLists.txt": "saccade_library(saccade_kernels DEPENDS saccade_gpu)"}
        self.assertEqual(link_violations(self.plant(good)), [])
        for change in (
            {"gpu/CMakeLists.txt": "saccade_library(saccade_gpu DEPENDS saccade_kernels)"},
            {"gpu/CMakeLists.txt": "saccade_library(saccade_gpu)\ntarget_link_libraries(saccade_gpu PUBLIC saccade_kernels)"},
            {"kernels/CMakeLists.txt": "add_library(other k.cpp)"},
            {"ui/u.cpp": ""},
            {"capi/c.cpp": "", "capi/CMakeLists.txt": "saccade_library(saccade_capi DEPENDS saccade_ui)"},
            {"app/a.cpp": "", "app/CMakeLists.txt": "saccade_library(saccade_app DEPENDS saccade_capi)"},
        ):
            with self.subTest(change=change):
                self.assertGreaterEqual(len(link_violations(self.plant({**good, **change}))), 1)


if __name__ == "__main__":
    unittest.main()
