"""Below app/ errors and messages are in the library's words: no text names an option of the command line, nothing knows
the program's exit codes. app/options/hint_flags.cpp says hints with options, app/exit_code.h maps kinds."""
import pathlib
import re
import tempfile
import unittest

import repository

CODE = (".cpp", ".h", ".cu", ".cuh")
TOKEN = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"(?P<mark>[^()\s\\]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\[^'\n]+|[^'\\\n])'""",
                   re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z{]")
EXIT_CODE = re.compile(r"\b(ExitCode|exit_code|EXIT_(?:SUCCESS|FAILURE)|EX_[A-Z]+)\b")


def libraries(root):
    """What is below the programs: every folder of code but app/ and what supports the project."""
    others = ("app", "tests", "bench", "scripts", "docs", "cmake", "assets", "build", "examples")
    return tuple(sorted(path.name for path in root.iterdir()
                        if path.is_dir() and path.name not in others and not path.name.startswith(".")))


def literals(text):
    """(line, content) of each string literal; comments and characters are none."""
    for token in TOKEN.finditer(text):
        content = token["raw"] if token["raw"] is not None else token["text"]
        if content is not None:
            yield text.count("\n", 0, token.start()) + 1, content


def without_comments_and_texts(text):
    return TOKEN.sub(lambda token: "\n" * token[0].count("\n"), text)


def violations(root):
    found = []
    for path in repository.files(root, libraries(root), CODE):
        text = (root / path).read_text(encoding="utf-8")
        found += [f'{path}:{line}: "{content}" names an option' for line, content in literals(text) if OPTION.search(content)]
        for number, line in enumerate(without_comments_and_texts(text).splitlines(), 1):
            found += [f"{path}:{number}: {word} is the program's" for word in EXIT_CODE.findall(line)]
    return found


class Words(unittest.TestCase):
    def test_the_library_names_no_option_and_no_exit_code(self):
        self.assertEqual(violations(repository.ROOT), [])

    def test_every_library_is_seen(self):
        self.assertLessEqual({"ui", "pipeline", "kernels", "gpu"}, set(libraries(repository.ROOT)))
        self.assertNotIn("app", libraries(repository.ROOT))


class PlantedViolations(unittest.TestCase):
    def of(self, text, name="pipeline/source/x.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return violations(pathlib.Path(folder))

    def test_options(self):
        for text in ('throw UsageError("a.mp4: too large; use --vf scale=64:-2");',
                     'f("--levels {}: at least 1");',
                     'f("-: can\'t be looped; leave out "\n  "--loop");',
                     'f(fmt::format("--{}", name));',
                     'f("say \\"--loop\\"");',
                     'f(R"(use --loop)");',
                     "char quote = '\"'; f(\"(--loop)\");",
                     'int n = 1\'000\'000; f("`--loop`");',
                     'f("//"); g("--loop");'):
            with self.subTest(text=text):
                self.assertEqual(len(self.of(text)), 1)
        for name in ("gpu/cuda/x.cu", "kernels/x.h", "ui/panel/x.cpp", "capi/x.cpp"):
            with self.subTest(name=name):
                self.assertEqual(len(self.of('f("--loop");', name)), 1)

    def test_exit_codes(self):
        for text in ("return ExitCode::kUsage;", "std::exit(EXIT_FAILURE);", "int exit_code(ErrorKind kind);", "return EX_USAGE;"):
            with self.subTest(text=text):
                self.assertEqual(len(self.of(text)), 1)

    def test_what_is_allowed(self):
        for text in ('f("a word -- another, a-b--c, -1 and ---");', "// use --loop; ExitCode", "/* --loop\n */ int a = --b;",
                     'f("exit_code");', "int count = n--;"):
            with self.subTest(text=text):
                self.assertEqual(self.of(text), [])
        self.assertEqual(self.of('f("--loop"); return ExitCode::kUsage;', "app/x.cpp"), [])


if __name__ == "__main__":
    unittest.main()
