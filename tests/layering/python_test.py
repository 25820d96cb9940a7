"""The Python package's rooms: each says which rooms it may import, and nothing leads back. Nor do its files: an import
inside a function, or for type checkers alone, counts as any other.
"""
import ast
import pathlib
import re
import tempfile
import unittest

import repository
from layering_test import circle

MOST_FILES = 25  # of a room
IMPORT = re.compile(r"^[ \t]*(?:from|import) pysaccade\b\.?([\w.]*)(?: import \(?([\w, ]+))?", re.MULTILINE)

# Room -> the rooms it may import besides itself; "": what lies beside the rooms, the public names.
MAY_USE = {
    "_native": (),
    "_operators": ("_native",),
    "emission": ("_native",),
    "stream": ("_native", "emission"),
    "dumps": ("_native", "emission"),
    "picture": ("_native", "emission", "dumps"),
    "models": ("_native", "emission", "stream", "picture"),
    "watching": ("_native", "emission", "stream", "models"),
    "mcp": ("_native", "emission", "models", "picture", "stream"),
    "lattice": ("_native", "_operators"),
    "tensors/_call": ("_native", "_operators"),
    "tensors": ("_native", "_operators", "lattice", "tensors/_call"),
    "many": ("_native", "emission", "dumps"),
    "on_ray": ("_native", "dumps", "many"),
    "": ("_native", "dumps", "emission", "lattice", "many", "models", "on_ray", "picture", "stream", "tensors", "watching"),
}


def rooms_of(module, names):
    """The rooms that `from pysaccade.MODULE import NAMES` needs."""
    if module:
        parts = module.split(".")
        return {next((room for n in range(len(parts), 1, -1) if (room := "/".join(parts[:n])) in MAY_USE), parts[0])}
    return {name.split(" as ")[0].strip() for name in (names or "").split(",")} & set(MAY_USE) or {""}


def violations(package):
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        room = "/".join(parts[:-1])
        if room not in MAY_USE:
            found.append(f"{path.name}: the room {room} is not in MAY_USE")
            continue
        text = path.read_text(encoding="utf-8")
        checked = text.split("\nif TYPE_CHECKING:\n")
        lines = checked[0] + "".join(re.sub(r"\A(?:[ \t]+.*\n|\n)+", "\n", rest) for rest in checked[1:])
        for module, names in IMPORT.findall(lines):
            for target in rooms_of(module, names):
                target = target if target in MAY_USE else ""
                if target == room or target in MAY_USE[room]:
                    continue
                found.append(f"{'/'.join(parts)} imports {target or 'pysaccade'}: {room or 'pysaccade'} may not")
    return found


def file_imports(package):
    """Module -> the modules of the package that it imports, anywhere."""
    modules = {".".join((package.name, *path.relative_to(package).with_suffix("").parts)): path for path in package.rglob("*.py")}
    found = {}
    for module, path in modules.items():
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        found[module] = sorted(names & set(modules) - {module})
    return found


def callers(function):
    """Where the library's function of this name is called in the package."""
    package = repository.ROOT / "python" / "pysaccade"
    call = re.compile(rf"\b(?:saccade|raw)_{function}\(")
    return [path.relative_to(package).as_posix() for path in sorted(package.rglob("*.py"))
            for _ in call.findall(path.read_text(encoding="utf-8"))]


class Calls(unittest.TestCase):
    def test_a_sampling_is_called_in_one_place(self):
        for function in ("sample", "sample_backward", "sample_image_backward"):
            self.assertEqual(callers(function), ["_operators/_tensor_abi.py"], function)


class Rooms(unittest.TestCase):
    package = repository.ROOT / "python" / "pysaccade"

    def test_imports_go_one_way(self):
        self.assertEqual(violations(self.package), [])

    def test_the_rules_have_no_circle(self):
        self.assertEqual(circle(MAY_USE), [])

    def test_files_have_no_circle(self):
        self.assertEqual(circle(file_imports(self.package)), [])

    def test_no_room_is_crowded(self):
        counts = {room: len(list((self.package / room).glob("*.py"))) for room in MAY_USE}
        self.assertEqual({room: count for room, count in counts.items() if count > MOST_FILES}, {})


class PlantedViolations(unittest.TestCase):
    def test_imports_that_lead_back_are_found(self):
        planted = {
            "_native/_a.py": "from pysaccade.stream import x\n",
            "emission/_b.py": "from pysaccade.picture._show import show\n",
            "emission/_c.py": "def f():\n    from pysaccade.picture._show import show\n",
            "stream/_d.py": "import pysaccade.tensors.pyramid\n",
            "lattice/_e.py": "from pysaccade import reference\n",
            "stream/_f.py": "from pysaccade._native import _abi\nfrom pysaccade.emission import Emission\n",
            "tensors/_call/_h.py": "from pysaccade.tensors.pyramid import x\n",
            "other/_g.py": "",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in planted.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            found = violations(pathlib.Path(folder))
        self.assertEqual([line.split(" ")[0].removesuffix(":") for line in found],
                         ["_native/_a.py", "emission/_b.py", "emission/_c.py", "lattice/_e.py", "_g.py", "stream/_d.py", "tensors/_call/_h.py"])


class PlantedCircles(unittest.TestCase):
    def test_circles_of_files_are_found(self):
        planted = {
            "pysaccade/a/_x.py": "def f():\n    from pysaccade.a import _y\n",
            "pysaccade/a/_y.py": "if TYPE_CHECKING:\n    from pysaccade.a._z import Z\n",
            "pysaccade/a/_z.py": "import pysaccade.a._x\n",
            "pysaccade/a/_w.py": "from pysaccade.a._x import f\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in planted.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            found = file_imports(pathlib.Path(folder) / "pysaccade")
        self.assertEqual({module.rsplit("_", 1)[1] for module in circle(found)}, {"x", "y", "z"})
        del found["pysaccade.a._z"]
        self.assertEqual(circle(found), [])



if __name__ == "__main__":
    unittest.main()
