"""The project's words. Below app/ no text or comment names an option as the command line spells it, and nothing knows the
program's exit codes: app/options/hint_flags.cpp says hints with options, app/process/exit_code.h maps kinds. Everywhere, in
names, comments, texts and docs, the field's words stand in place of the project's old ones."""
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

PROSE = CODE + (".c", ".hpp", ".glsl", ".comp", ".vert", ".frag", ".py", ".pyi", ".md", ".txt", ".cmake", ".sh", ".toml", "")


def words(pattern):
    """Whole words of prose, or of a name in snake_case or PascalCase."""
    return re.compile(rf"(?:(?<![A-Za-z])|(?<=[a-z0-9])(?=[A-Z]))(?i:{pattern})(?![a-z])(?!(?<=[A-Z]{{2}})[A-Z])")


def phrase(*pattern):
    """Words in a row, also over the end of a comment's line and in a name."""
    return r"[\s/#*_-]*".join(pattern)


DENIED = {
    "device, GPU": "cards?",
    "rotate, rotation": "(?:un)?turn(?:s|ed|ing|ers?)?",
    "empty frame": "shells?",
    "rebuild, recreate, reopen, restart": "anew",
    "storage, memory, array": "homes?|" + phrase("own", "arrays") + "|" + phrase("arrays", "of", "(?:its|their)", "own"),
    "session, run": "theat(?:re|er)s?|facilit(?:y|ies)",
    "conflicts with, overrides": phrase("g(?:ive|ives|iving|ave|iven)", "way") + "|contradict[a-z]*",
    "lost connection, reconnect": phrase("br(?:eak|eaks|eaking|oke|oken)", "off") + "|" + phrase("came", "back"),
    "log once, report once, warn once": phrase("(?:sa(?:y|ys|id|ying)|t(?:ell|ells|old|elling))", "(?:it|this|that)?", "(?:only|just)?", "once") +
                                        "|" + phrase("once", "(?:said|told)"),
    "fall back": phrase("pass(?:es|ed|ing)?", "over", "to"),
}
ANY_DENIED = words("|".join(f"(?P<d{i}>{pattern})" for i, pattern in enumerate(DENIED.values())))
# Other meanings of these words, public names, and names of others.
ALLOWED = re.compile("|".join((
    r"(?i:\bin turns?\b|(?<![A-Za-z])tak(?:e|es|ing)_?\s*turns?(?![a-z]))|(?<=_)TakeTurns(?![a-z])|ANew(?![a-z])",
    r"(?i:\bturn(?:s|ed)? (?:(?:a|an|the|every|each|such)\s+(?:[\w'`]+\s+){1,3})?into\b)",
    r"(?i:\bturn(?:s|ed)? (?:it |them )?(?:on|off)\b(?! (?:the|a) (?:device|gpu)))",
    r"\b(?:capability\.|cap->)card\b",
    r"\bbroke_off\b",
    r"\bapt-config shell\b|\b(?:for|in|by|to) (?:the|a) shell\b|\bshell(?:=(?:True|False)\b| scripts?\b)|\bchromium-headless-shell\b",
    r"(?:\$\{?|\b)(?:[A-Z]+_)*HOME\b|\b(?:ImGui)?Key_Home\b|\bkKeyHome\b|\bHome(?=,? (?:and )?End\b|[\x22`])|\bhome page\b")))
# For people a card is one.
README_ALLOWED = words("cards?")


def libraries(root):
    """What is below the programs: every folder of code but app/ and what supports the project."""
    others = ("app", "tests", "bench", "scripts", "docs", "cmake", "assets", "build", "examples")
    return tuple(sorted(path.name for path in root.iterdir()
                        if path.is_dir() and path.name not in others and not path.name.startswith(".")))


def texts(text):
    """(line, content) of each string literal and each line of a comment; characters are none."""
    for token in TOKEN.finditer(text):
        content = token["raw"] if token["raw"] is not None else token["text"]
        if content is None and token[0].startswith("/"):
            content = token[0]
        if content is not None:
            first = text.count("\n", 0, token.start()) + 1
            yield from ((first + i, line) for i, line in enumerate(content.split("\n")))


def without_comments_and_texts(text):
    return TOKEN.sub(lambda token: "\n" * token[0].count("\n"), text)


def violations(root):
    found = []
    for path in repository.files(root, libraries(root), CODE):
        text = (root / path).read_text(encoding="utf-8")
        found += [f'{path}:{line}: "{content}" names an option' for line, content in texts(text) if OPTION.search(content)]
        for number, line in enumerate(without_comments_and_texts(text).splitlines(), 1):
            found += [f"{path}:{number}: {word} is the program's" for word in EXIT_CODE.findall(line)]
    return found


def prose(root):
    """Every text of the project but this one, which holds the words."""
    tops = [path for path in sorted(root.iterdir()) if path.name == ".ci" or not path.name.startswith((".", "build", "shared"))]
    loose = [path.relative_to(root) for path in tops if path.is_file() and path.suffix in PROSE and path.name != "LICENSE"]
    return loose + [path for path in repository.files(root, [path.name for path in tops if path.is_dir()], PROSE)
                    if path.name != pathlib.Path(__file__).name]


def old_words(root):
    found = []
    for path in prose(root):
        text = f"{path}\n" + (root / path).read_text(encoding="utf-8", errors="replace")  # a file's name is prose too
        text = ALLOWED.sub(lambda allowed: re.sub(r"\S", " ", allowed[0]), text)
        if path.name == "README.md":
            text = README_ALLOWED.sub("", text)
        for match in ANY_DENIED.finditer(text):
            write = list(DENIED)[int(match.lastgroup[1:])]
            found.append(f"{path}:{text.count(chr(10), 0, match.start())}: '{match[0]}': write {write}")
    return found


class Words(unittest.TestCase):
    def test_old_words_are_gone(self):
        self.assertEqual(old_words(repository.ROOT), [])

    def test_all_prose_is_seen(self):
        seen = {str(path) for path in prose(repository.ROOT)}
        for path in ("README.md", "CMakeLists.txt", "docs/INTERNALS.md", "kernels/cuda/launch/sampler.cu", "scripts/test", "capi/stream/stream.h",
                     "tests/app/dump/cuda_test.py", "include/saccade/saccade.h", "cmake/SaccadeTarget.cmake"):
            self.assertIn(path, seen)

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
                     "// as --loop takes it", "int a = 0;  // a `--config` file", "/* one\n * --loop\n */",
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
        for text in ('f("a word -- another, a-b--c, -1 and ---");', "// use loop; ExitCode", "/* loop\n */ int a = --b;",
                     'f("exit_code");', "int count = n--;"):
            with self.subTest(text=text):
                self.assertEqual(self.of(text), [])
        self.assertEqual(self.of('f("--loop"); return ExitCode::kUsage;', "app/x.cpp"), [])


class PlantedWords(unittest.TestCase):
    def of(self, text, name="pipeline/source/x.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return old_words(pathlib.Path(folder))

    def test_each_word_is_seen(self):
        for text in ("// on the card", "bool is_on_card(f);", "class CardTurn;", "int kCard;", 'warn("the Cards");', "#define ON_CARD 1",
                     "// a frame turned by 90 degrees", "turn_frame(f);", "turns_", "struct FrameTurn {};", "// turned on the device",
                     "Shells", "frame_shell", "// opened anew", "StartsAnew", "class Theatre;", "facilities", "// its home",
                     "home_", "// keeps arrays of its own", "// this gives way", "give_way(a)", "GivesWay", "// it contradicts that",
                     "// the stream broke\n// off", '"it came back"', "came_back", "// Said once: why", "// said only once",
                     "// told\n  // once", "told_once_", "// passes over to the CPU"):
            with self.subTest(text=text):
                self.assertGreaterEqual(len(self.of(text)), 1)

    def test_every_kind_of_file_is_seen(self):
        for name in ("docs/X.md", "X.md", "python/x.py", "kernels/x.cu", "cmake/X.cmake", "scripts/x", "tests/ui/x_test.cpp", ".ci/run"):
            with self.subTest(name=name):
                self.assertEqual(len(self.of("a card\n", name)), 1)
        self.assertEqual(len(self.of("", "kernels/cuda/turn_frame.cu")), 1)

    def test_other_meanings_are_allowed(self):
        for text in ("noreturn, discard, wildcard, dashboard, CARDINAL, kReturn, shellac", "two buffers in turn",
                     "TakeTurns", "turns a fixation into a plan", "Turns such skips into failures", "turn it off", "json[\"broke_off\"]",
                     "capability.card", "cap->card", "quoted(word);  // for the shell", "$HOME ${XDG_CACHE_HOME} HOME=/root",
                     "it says so; once more", "saccade_stream_end.broke"):
            with self.subTest(text=text):
                self.assertEqual(self.of(text), [])
        self.assertEqual(self.of("an NVIDIA card", "README.md"), [])


if __name__ == "__main__":
    unittest.main()
