"""The library as a stranger meets it: installed into a prefix that is then moved, found by CMake and by pkg-config, built
against from C11 and C++, and run."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from required import skip_or_fail

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["SACCADE_BUILD_DIR"])
HEADERS = HERE.parents[1] / "include"
SANITIZE = ["-fsanitize=" + os.environ["SACCADE_SANITIZE"].replace("+", ",")] if os.environ.get("SACCADE_SANITIZE") else []
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]


def soversion(version):
    """Below 1.0 a minor version may change the interface, so it is part of the soname."""
    major, minor = version.split(".")[:2]
    return f"0.{minor}" if major == "0" else major


def run(*command, **options):
    """The standard output. A failure shows both streams."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=300, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def exported(library):
    """Dynamic symbols that it defines, without the version's own."""
    names = [line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    return sorted(name for name in names if not name.startswith("SACCADE_"))


class Headers(unittest.TestCase):
    """Each alone, in every language that it promises, with all warnings."""

    def test_c(self):
        for standard in ("c11", "c17", "c2x"):
            for header in ("saccade.h", "tensor.h", "picture.h", "views.h"):
                run("cc", f"-std={standard}", *STRICT, f"-I{HEADERS}", "-fsyntax-only", "-x", "c",
                    HEADERS / "saccade" / header)

    def test_cpp(self):
        for standard in ("c++17", "c++20"):
            for header in ("saccade.h", "saccade.hpp", "tensor.h", "picture.h", "views.h"):
                run("c++", f"-std={standard}", *STRICT, "-I", HEADERS, "-fsyntax-only", "-x", "c++", HEADERS / "saccade" / header)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (BUILD / "capi/libsaccade.so").exists():
            raise unittest.SkipTest("this build has no library: SACCADE_LIBRARY=OFF")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        run("cmake", "--install", BUILD, "--prefix", root / "first")
        cls.prefix = root / "moved" / "prefix"
        cls.prefix.parent.mkdir()
        (root / "first").rename(cls.prefix)
        cls.lib = next(path.parent for path in cls.prefix.rglob("libsaccade.so"))
        cls.work = root / "work"
        cls.work.mkdir()

    def consume(self, program):
        """Runs where there is no other library of ours to find."""
        self.assertIn(": ok", run(program, cwd=self.work, env={**os.environ, "LD_LIBRARY_PATH": str(self.lib)}))

    def pkg_config(self, *arguments, path=None):
        if shutil.which("pkg-config") is None:
            skip_or_fail("pkg-config", "pkg-config is not installed")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(path or self.lib / "pkgconfig")}
        return shlex.split(run("pkg-config", *arguments, "saccade", env=environment))

    def test_files(self):
        files = {path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*") if not path.is_dir()}
        lib = self.lib.relative_to(self.prefix).as_posix()
        version = self.pkg_config("--modversion")[0]
        expected = {"bin/saccade", "include/saccade/saccade.h", "include/saccade/saccade.hpp", "include/saccade/tensor.h",
                    "include/saccade/picture.h", "include/saccade/views.h"}
        expected |= {f"{lib}/{name}" for name in ("libsaccade.a", "libsaccade.so", f"libsaccade.so.{soversion(version)}",
                                                  f"libsaccade.so.{version}", "pkgconfig/saccade.pc")}
        if (BUILD / "lib/saccade/libnvcuvid.so.1").exists():  # with CUDA
            expected.add(f"{lib}/saccade/libnvcuvid.so.1")
        package = {name for name in files if name.startswith(f"{lib}/cmake/saccade/saccade-")}
        self.assertEqual(files - package, expected)
        self.assertGreaterEqual(len(package), 6)

    def test_nothing_installed_names_the_build_tree(self):
        for path in [*self.prefix.rglob("*.cmake"), *self.prefix.rglob("*.pc")]:
            text = path.read_text(encoding="utf-8")
            self.assertNotIn(str(BUILD), text, path.name)
            self.assertNotIn(str(HERE.parents[1]), text, path.name)

    def test_exports_are_the_header(self):
        folder = self.prefix / "include/saccade"
        header = "".join((folder / name).read_text(encoding="utf-8") for name in ("saccade.h", "tensor.h", "picture.h", "views.h"))
        declared = re.findall(r"^SACCADE_API [^;(]*?\b(saccade_\w+)\(", header, re.MULTILINE)
        self.assertGreater(len(declared), 20)
        self.assertEqual(exported(self.lib / "libsaccade.so"), sorted(declared))

    def test_soname(self):
        version = self.pkg_config("--modversion")[0]
        dynamic = run("readelf", "-d", self.lib / "libsaccade.so")
        self.assertRegex(dynamic, rf"SONAME.*\[libsaccade\.so\.{re.escape(soversion(version))}\]")
        self.assertNotRegex(dynamic, r"R(UN)?PATH")

    def test_cmake(self):
        flags = " ".join(SANITIZE)
        run("cmake", "-G", "Ninja", "-S", HERE, "-B", self.work / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}")
        run("cmake", "--build", self.work / "build", "--parallel", "2")
        for program in ("consumer_c", "consumer_cpp", "consumer_static"):
            with self.subTest(program):
                self.consume(self.work / "build" / program)
        self.assertNotIn("libsaccade", run("readelf", "-d", self.work / "build/consumer_static"))

    def test_pkg_config(self):
        shared = self.work / "by_pkg_config"
        run("cc", "-std=c11", *SANITIZE, HERE / "consumer.c", *self.pkg_config("--cflags", "--libs"), "-lm", "-o", shared)
        self.consume(shared)
        static = self.work / "static_by_pkg_config"
        libraries = [f"{self.lib}/libsaccade.a" if part == "-lsaccade" else part
                     for part in self.pkg_config("--static", "--cflags", "--libs")]
        run("cc", "-std=c11", *SANITIZE, HERE / "consumer.c", *libraries, "-o", static)
        self.consume(static)

    def test_pkg_config_names_the_prefix_it_lies_in(self):
        self.assertEqual([os.path.normpath(self.pkg_config(f"--variable={name}")[0]) for name in ("prefix", "libdir", "includedir")],
                         [str(self.prefix), str(self.lib), str(self.prefix / "include")])
        for flag in self.pkg_config("--static", "--cflags", "--libs"):
            self.assertNotIn("//", flag)
        moved = self.pkg_config("--define-variable=prefix=/opt/there", "--cflags", "--libs")
        self.assertEqual(moved[:2], ["-I/opt/there/include", f"-L/opt/there/{self.lib.relative_to(self.prefix)}"])

    def test_pkg_config_of_a_prefix_with_a_space(self):
        there = pathlib.Path(self.folder.name) / "a prefix"
        lib = there / self.lib.relative_to(self.prefix)
        shutil.copytree(self.lib / "pkgconfig", lib / "pkgconfig")
        flags = self.pkg_config("--cflags", "--libs", path=lib / "pkgconfig")
        self.assertEqual([os.path.normpath(flag) for flag in flags],
                         [f"-I{there / 'include'}", f"-L{lib}", "-lsaccade"])

    def test_examples_of_the_manual(self):
        manual = (HERE.parents[1] / "docs/API.md").read_text(encoding="utf-8")
        for language, compiler, standard, least_lines in (("c", "cc", "c11", [4]), ("cpp", "c++", "c++17", [4, 1])):
            codes = re.findall(rf"```{language}\n(.*?)```", manual, re.DOTALL)
            self.assertEqual(len(codes), len(least_lines))
            for number, (code, least) in enumerate(zip(codes, least_lines)):
                with self.subTest(language, number=number):
                    self.assertLessEqual(len(code.splitlines()), 30)
                    source = self.work / f"example{number}.{language}"
                    source.write_text(code, encoding="utf-8")
                    program = self.work / f"example{number}_{language}"
                    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", *SANITIZE, source,
                        *self.pkg_config("--cflags", "--libs"), "-o", program)
                    output = run(program, "test://box?size=320x240&frames=30",
                                 env={**os.environ, "LD_LIBRARY_PATH": str(self.lib)})
                    self.assertGreaterEqual(len(output.splitlines()), least)


if __name__ == "__main__":
    unittest.main()
