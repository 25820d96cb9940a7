"""Every GoogleTest is named Thing.Condition_Result, every line of ctest's log stays under 120 columns, no two types have one
name, and no part of the C interface has the name of something that builds leave out."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import repository

TEST = re.compile(r"^ *(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
THING = re.compile(r"[A-Z][A-Za-z0-9]*")
CONDITION_RESULT = re.compile(r"[A-Z][A-Za-z0-9]*_[A-Z][A-Za-z0-9]*")
TYPE = re.compile(r"(?:struct|class|union) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: :(?!:)[^;]*)? \{")
STAND_INS = {"saccade::gl::EglCurrent"}  # of builds without OpenGL
LONGEST = 75  # ctest's log puts up to 44 columns around the longest name


def wrong_names(text):
    return [f"{suite}.{name}" for suite, name in TEST.findall(text)
            if not THING.fullmatch(suite) or not CONDITION_RESULT.fullmatch(name)]


class Names(unittest.TestCase):
    def test_thing_condition_result(self):
        found = []
        for path in repository.files(folders=("tests",)):
            found += [f"{path}: {name}" for name in wrong_names((repository.ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])

    def test_wrong_names_are_found(self):
        right = "TEST(Queue, Full_Blocks) {\nTEST_F(Queue, OnClose_EndsBoth) {\n"
        wrong = "TEST(Queue, Blocks) {\nTEST_P(\n    Queue, WhenFull_It_Blocks) {\nTEST(queue, Full_Blocks) {\n"
        self.assertEqual(wrong_names(right + wrong), ["Queue.Blocks", "Queue.WhenFull_It_Blocks", "queue.Full_Blocks"])

    def test_log_is_narrow(self):
        build = os.environ.get("SACCADE_BUILD_DIR")
        if build is None:
            self.skipTest("SACCADE_BUILD_DIR names no build folder")
        done = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=True)
        names = re.findall(r"^ *Test +#\d+: (.*?)(?: \(Disabled\))?$", done.stdout, re.MULTILINE)
        self.assertGreater(len(names), 0, done.stdout)
        self.assertEqual([name for name in names if len(name) > LONGEST], [], f"names of more than {LONGEST} characters")


def types_of(text):
    """Types that the text defines in a namespace with a name, as saccade::gl::Context."""
    spaces, found = [], set()
    for line in text.splitlines():
        opened, defined = re.match(r"namespace(?: ([\w:]+))? \{", line), TYPE.match(line)
        if opened:
            spaces.append(opened[1])
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif defined and None not in spaces:
            found.add("::".join([*spaces, defined[1]]))
    return found


def defined_twice(root):
    """{type: files}: a linker keeps one of two constructors or destructors with the same name, whichever it meets first."""
    places = {}
    for path in repository.files(root, ("app", "ui", "capi", "pipeline", "kernels", "gpu")):
        for name in types_of((root / path).read_text(encoding="utf-8")):
            places.setdefault(name, []).append(path.as_posix())
    return {name: paths for name, paths in places.items() if len(paths) > 1 and name not in STAND_INS}


class Types(unittest.TestCase):
    def test_each_is_defined_once(self):
        self.assertEqual(defined_twice(repository.ROOT), {})

    def test_two_of_a_name_are_found(self):
        a = "namespace saccade {\nstruct Facts {\n};\nclass Gone;\n}  // namespace saccade\n"
        others = ("namespace saccade {\nclass Facts : public Base {\n};\nclass Gone {\n};\n}  // namespace saccade\n",
                  "namespace saccade {\nnamespace {\nstruct Facts {\n};\n}  // namespace\n}  // namespace saccade\n",
                  "namespace saccade {\nnamespace ui {\nstruct Facts {};\n}  // namespace ui\nstruct Facts::Impl {\n};\n}  // namespace saccade\n")
        for other, found in zip(others, ({"saccade::Facts": ["app/a.h", "app/b.cpp"]}, {}, {})):
            with self.subTest(other=other), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                (root / "app").mkdir()
                (root / "app/a.h").write_text(a)
                (root / "app/b.cpp").write_text(other)
                self.assertEqual(defined_twice(root), found)


class Sources(unittest.TestCase):
    def test_the_c_interface_is_whole_in_every_build(self):
        """saccade_sources() leaves files out by such names, and with them what libsaccade's callers link to."""
        left_out = re.compile(r"(^|/)(cuda|gl|interop|view|web)[/_]")
        found = [str(path) for path in repository.files(folders=("capi",)) if left_out.search(str(path))]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
