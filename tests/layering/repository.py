"""The source files of the project, as the checks of this folder see them."""
import os
import pathlib

ROOT = pathlib.Path(os.environ.get("SACCADE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FOLDERS = ("app", "ui", "capi", "include", "pipeline", "kernels", "gpu", "tests", "bench", "cmake", "scripts", "assets")
CODE = (".cpp", ".h", ".hpp", ".cu", ".cuh", ".glsl", ".comp", ".vert", ".frag")


def files(root=ROOT, folders=FOLDERS, suffixes=CODE):
    """Paths relative to root, sorted."""
    found = []
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts:
                found.append(path.relative_to(root))
    return sorted(found)
