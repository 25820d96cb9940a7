"""Every misuse gets one line that names the thing and what to try, and its exit code."""
import shutil
import socket
import subprocess
import unittest

from dump_support import DumpTest, ffmpeg, saccade
from patience import PATIENCE
from program import SACCADE, auto_backend


class BadInput(DumpTest):
    seconds, size = 1, "64x64"

    def check(self, path, *words):
        self.refuse(65, [str(path), *words], "dump", path, "-o", self.out, "--log-level", "warn")
        self.assertFalse(self.out.exists())

    def test_missing(self):
        self.check(self.folder / "does not exist.mp4")

    def test_directory(self):
        (self.folder / "folder.mp4").mkdir()
        self.check(self.folder / "folder.mp4")

    def test_empty(self):
        (self.folder / "empty.mp4").write_bytes(b"")
        self.check(self.folder / "empty.mp4", "empty")

    def test_text(self):
        (self.folder / "text.mp4").write_text("The quick brown fox jumps over the lazy dog.\n" * 50)
        self.check(self.folder / "text.mp4")

    def test_audio_only(self):
        ffmpeg("-f", "lavfi", "-i", "sine=duration=1", self.folder / "tone.wav")
        self.check(self.folder / "tone.wav", "video")

    def test_start_behind_the_end(self):
        self.refuse(65, ["clip.mp4"], "dump", self.clip, "-o", self.out, "--start", "100", "--log-level", "warn")
        self.assertFalse(self.out.exists())


class Usage(DumpTest):
    seconds, size = 1, "64x64"

    def usage(self, words, *arguments):
        self.refuse(2, words, *arguments)

    def with_clip(self, words, *options):
        self.usage(words, "dump", self.clip, "-o", self.out, *options)
        self.assertFalse(self.out.exists())

    def test_options_are_read_before_the_input_is_opened(self):
        for argument in ("center:2,0", "center:left", "raster:0x3"):
            self.usage(["--fixation", argument], "dump", self.folder / "not there.mp4", "-o", self.out, "--fixation", argument)

    def test_no_command(self):
        done = saccade()
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"saccade dump", done.stderr)

    def test_help_and_version(self):
        for arguments in (("--help",), ("dump", "--help"), ("profile", "--help"), ("info", "--help"), ("reconstruct", "--help"), ("--version",)):
            done = saccade(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
            self.assertIn(b"saccade", done.stdout)
        self.assertIn(b"--fixation", saccade("dump", "--help").stdout)

    def test_unknown_command(self):
        self.usage(["'watch'", "view", "dump", "profile", "info", "reconstruct"], "watch", "x.mp4")

    def test_unknown_option(self):
        self.with_clip(["--treshold", "--threshold"], "--treshold", "3")
        self.with_clip(["--nonsense", "--help"], "--nonsense")
        self.with_clip(["unknown option --min-pixels; it is called --min-samples now"], "--min-pixels", "3")
        self.with_clip(["--budget-ms", "dump"], "--budget-ms", "3")

    def test_options_that_are_gone_say_what_to_write(self):
        for command, option, words in (("profile", "--check", "--budget-ms alone"), ("view", "--overlay", "--show: panel,marks"),
                                       ("view", "--compare", "--view compare:LATTICE"), ("view", "--serve-token-file", "SACCADE_TOKEN")):
            self.usage([f"saccade: unknown option {option}; ", words], command, self.clip, option)

    def test_settings_have_no_option_of_their_own(self):
        for option, words in ((("--max-pixels", "99"), "--max-pixels: leaves with the next version; write --set max-pixels=N"),
                              (("--input-size", "8x8"), "--input-size: leaves with the next version; write --input-format video_size=WxH")):
            done = saccade("dump", self.clip, "-o", self.out, *option)  # taken all the same: these are too few pixels, and no raw video
            self.assertIn(f"saccade: warning: {words}", done.stderr.decode())
            self.assertNotEqual(done.returncode, 0)
        self.with_clip(["--vsync: not an option of 'dump'"], "--set", "vsync=off")
        for given in (["--set", "max-pixel=9"], ["--max-pixel", "9"]):
            self.with_clip(["unknown option --max-pixel; did you mean --set max-pixels?"], *given)
        self.with_clip(["unknown option --nonsense; docs/OPTIONS.md lists them"], "--set", "nonsense=9")
        for given in ("", "=", "=9", "-", "--", "--fixation", "--fixation=center", "-o=x", "--max-pixels=9"):
            self.with_clip([f"saccade: --set '{given}': wants NAME=VALUE, the name without dashes"], "--set", given)
        self.with_clip(["--set max-pixels: needs a value: --set max-pixels=N"], "--set", "max-pixels")
        self.with_clip(["--set config: write --config"], "--set", "config=x")
        self.with_clip(["--set max-pixels: 'x' is not a whole number"], "--set", "max-pixels=x")

    def test_the_last_value_wins_and_what_repeats_adds_up(self):
        shown = saccade("view", self.clip, "--serve", "--print-config", "--set", "speed=2", "--set", "speed=3", "--set", "pause",
                        "--set", "serve-origin=https://a.example", "--set", "serve-origin=https://b.example").stdout.decode()
        for part in ("\nspeed = 3\n", "\npause = true\n", "https://a.example", "https://b.example"):
            self.assertIn(part, shown)

    def test_missing_things(self):
        self.usage(["INPUT"], "dump", "-o", self.out)
        self.usage(["-o"], "dump", self.clip)
        self.with_clip(["--seed"], "--seed")

    def test_values_out_of_range(self):
        for option, value in (("--threshold", "256"), ("--threshold", "x"), ("--threshold", "1.5"), ("--levels", "0"), ("--levels", "17"), ("--rate", "0"),
                              ("--rate", "nan"), ("--rate", "inf"), ("--e0", "0"), ("--e0", "-1"), ("--fov-deg", "181"), ("--patches", "0"),
                              ("--patch-size", "7"), ("--patch-size", "0"), ("--frames", "0"), ("--start", "-1"), ("--duration", "0"),
                              ("--threads", "-1"), ("--seed", "-1"), ("--every", "0"), ("--every", "fixations"), ("--dtype", "u16"),
                              ("--normalize", "none,clip"), ("--lattice", "round"), ("--preset", "eagle"), ("--fixation", "stare"),
                              ("--fixation", "mouse"), ("--fixation", "file"), ("--strides", "1,2,x"), ("--backend", "vulkan"), ("--live-policy", "drop"),
                              ("--log-level", "loud"), ("--progress", "yes"), ("--frames", "99999999999999999999"), ("--vf", "")):
            self.with_clip([option], option, value)

    def test_conflicts(self):
        nested = ("--lattice", "nested")
        for words, options in ((["--overwrite", "--resume"], ("--overwrite", "--resume")),
                               (["--patches", "--e0"], (*nested, "--patches", "100", "--e0", "2")),
                               (["--e0", "--preset"], (*nested, "--preset", "uv", "--e0", "2")),
                               (["--set lod", "uniform"], ("--set", "lod=2")), (["--lattice", "uniform"], ("--lattice", "grid:2")),
                               (["--preset", "uniform"], ("--lattice", "uniform", "--preset", "uv")),
                               (["--fovea: needs --lattice nested"], ("--lattice", "adaptive", "--fovea", "64")),
                               (["--preset: needs --lattice nested or grid"], ("--lattice", "adaptive", "--preset", "uv")),
                               (["--patches: needs --lattice nested"], ("--lattice", "adaptive", "--patches", "60")),
                               (["--patch-size 14", "lattice nested"], ("--lattice", "adaptive", "--patch-size", "14")),
                               (["--strides", "nested"], ("--lattice", "grid", "--strides", "1,2", "--grid-sizes", "4,4")),
                               (["--strides", "--grid-sizes"], (*nested, "--strides", "1,2")),
                               (["--grid-sizes", "--strides"], (*nested, "--strides", "1,2", "--grid-sizes", "4,4,4")),
                               (["--e0", "--strides"], (*nested, "--e0", "2", "--strides", "1,2", "--grid-sizes", "4,4")),
                               (["--preset", "--strides"], (*nested, "--preset", "uv", "--strides", "1,2", "--grid-sizes", "4,4")),
                               (["--tokens", "--m0"], (*nested, "--tokens", "100", "--m0", "2")),
                               (["--normalize", "--dtype"], ("--normalize", "clip")),
                               (["--set require-hwdec", "--hwdec"], ("--set", "require-hwdec", "--hwdec", "no"))):
            self.with_clip(words, *options)

    def test_a_page_that_can_not_be_served_where_it_was_asked(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            at = f"127.0.0.1:{taken.getsockname()[1]}"
            config = self.folder / "serve.toml"
            config.write_text(f"serve = '{at}'\n")
            for named, options in ((f"--serve {at}: ", ("--serve", at)), (f"{config}:1: serve {at}: ", ("--config", config)),
                                   ("--serve unix:/no/such/folder/s: ", ("--serve", "unix:/no/such/folder/s")),
                                   ("--serve 'x:y:z' is not", ("--serve", "x:y:z"))):
                done = saccade("view", self.clip, *options)
                if b"this build has no viewer" in done.stderr:
                    self.skipTest("this build has no viewer")
                self.assertIn(named, done.stderr.decode())
                self.assertIn(done.returncode, (2, 69))

    def test_no_output_replaces_the_input(self):
        before = self.clip.read_bytes()
        self.usage(["--trace", str(self.clip), "input itself"], "profile", self.clip, "--trace", self.clip)
        self.usage(["--screenshot", "input itself"], "view", self.clip, "--offscreen", "--screenshot", f"0={self.clip}")
        self.usage(["-o", "input itself"], "reconstruct", self.out, "-o", self.clip, "--against", self.clip, "--overwrite")
        self.assertEqual(self.clip.read_bytes(), before)

    def test_a_config_that_is_not_there_or_no_toml(self):
        self.with_clip(["--config", "nope.toml", "check the name"], "--config", self.folder / "nope.toml")
        bad = self.folder / "bad.toml"
        bad.write_text("patches = = 3\n")
        self.with_clip([f"{bad}:1", "--print-config"], "--config", bad)

    def test_a_printed_config_leaves_live_sources_their_threshold(self):
        shown = lambda *more: saccade("dump", self.clip, "-o", self.out, "--print-config", *more).stdout
        self.assertNotIn(b"\nthreshold", shown())
        self.assertIn(b"\nthreshold = 0\n", shown("--threshold", "0"))

    def test_a_config_that_is_a_directory(self):
        self.with_clip(["--config", str(self.folder), "directory"], "--config", self.folder)

    def test_more_levels_than_the_frame_allows(self):
        self.refuse(65, [str(self.clip), "15 or fewer", "lower --levels"], "dump", self.clip, "-o", self.out, "--levels", "16", "--log-level", "warn")
        self.assertFalse(self.out.exists())

    def test_results_that_can_not_be_written(self):
        for arguments in (("--help",), ("dump", "--help"), ("dump", "--print-config", "x.mp4", "-o", "out"), ("info", self.clip)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SACCADE, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, timeout=60 * PATIENCE, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b"could not be written", done.stderr)

    def test_upload_without_a_gpu(self):
        self.usage(["--set upload=pbo: ", "backend cpu"], "dump", self.clip, "-o", self.out, "--backend", "cpu", "--set", "upload=pbo")
        self.usage(["--backend cpu", "gl"], "view", self.clip, "--backend", "cpu")
        self.assertFalse(self.out.exists())

    def test_one_input_only(self):
        self.usage(["one INPUT"], "profile", self.clip, self.clip)

    def test_what_this_machine_lacks(self):
        if auto_backend() == "cuda":
            self.skipTest("this machine has a GPU")
        for words, options in ((["saccade: --hwdec cuda: "], ("--hwdec", "cuda")), (["saccade: --set require-hwdec: "], ("--set", "require-hwdec"))):
            self.refuse(69, words, "dump", self.clip, "-o", self.out, *options)
        self.assertFalse(self.out.exists())

    def test_output_is_a_file(self):
        self.usage([str(self.clip)], "dump", self.clip, "-o", self.clip)

    def test_a_file_that_is_named_like_an_option(self):
        for name in ("levels 1.mp4", "patches", "input-rate: 5"):
            shutil.copy(self.clip, self.folder / name)
            done = saccade("dump", name, "-o", "out", "--input-format", "framerate=5", cwd=self.folder)
            line = done.stderr.decode().splitlines()[-1]
            self.assertEqual(done.returncode, 2, line)
            self.assertTrue(line.startswith(f"saccade: {name}: "), line)

    def test_an_option_is_named_as_it_was_given(self):
        config = self.folder / "named.toml"
        for name, value, command, words in (
                ("patch-size", "14", "dump", "patch-size 14: squares of lattice adaptive"), ("patch-size", "14", "info", "patch-size 14: "),
                ("patch-size", "14", "profile", "patch-size 14: "),
                ("ignore", '"900,900,5,5"', "dump", "ignore 900,900,5,5: lies outside")):
            output = ("-o", self.out) if command == "dump" else ()
            config.write_text(f"lattice = 'adaptive'\n{name} = {value}\n")
            with self.subTest(name=name, command=command):
                self.usage([f"saccade: {self.clip}: --{words}"], command, self.clip, *output, "--lattice", "adaptive", f"--{name}", value.strip('"[]'))
                self.usage([f"saccade: {self.clip}: {config}:2: {words}"], command, self.clip, *output, "--config", config)

    def test_options_that_leave_are_taken_with_a_line_of_warning(self):
        config = self.folder / "old.toml"
        config.write_text("lattice = 'nested'\npatches = 60\n")
        for options, words in ((("--patches", "60", "--lattice", "nested"), ["--patches: leaves with the next version; use --tokens"]),
                               (("--config", config), [f"{config}:2: patches: leaves with the next version; use --tokens"]),
                               (("--lattice", "nested", "--strides", "1,2", "--grid-sizes", "4,4"), ["--grid-sizes: leaves", "--strides: leaves"])):
            done = saccade("dump", self.clip, "-o", self.folder / words[0][:4].strip("-/"), "--overwrite", "--log-level", "warn", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line for line in done.stderr.decode().splitlines() if "warning" in line]
            self.assertEqual(len(lines), len(words), lines)
            for line, word in zip(lines, words):
                self.assertTrue(line.startswith(f"saccade: warning: {word}"), line)

    def test_an_output_from_a_file_is_named_by_its_place(self):
        config = self.folder / "output.toml"
        config.write_text(f'output = "{self.clip}"\n[reconstruct]\nemission = 2\noutput = "x.mp4"\n')
        self.usage([f"saccade: {config}:1: output {self.clip}: is a file"], "dump", self.clip, "--config", config)
        self.usage([f"saccade: {config}:3: emission: "], "reconstruct", self.folder, "--config", config)
        self.usage(["saccade: --emission: "], "reconstruct", self.folder, "-o", "x.mp4", "--emission", "2")

    def test_a_mask_that_is_no_picture_is_named(self):
        for path in (self.folder / "no mask.png", self.folder / "text.png"):
            (self.folder / "text.png").write_text("no picture\n" * 99)
            self.refuse(65, [f"saccade: --ignore {path}: "], "dump", self.clip, "-o", self.out, "--ignore", path)

    def test_a_bad_filter(self):
        done = saccade("dump", self.clip, "-o", self.out, "--vf", "nosuchfilter=1", "--log-level", "off")
        self.assertIn(done.returncode, (2, 65))
        self.assertIn(b"nosuchfilter", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
