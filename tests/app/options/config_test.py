"""--config and --print-config, --progress and --json."""
import json
import unittest

from dump_support import DumpTest, load, load_json, saccade

OPTIONS = ("--every", "7", "--seed", "5", "--rate", "2.5", "--dtype", "f32", "--normalize", "siglip", "--lattice", "nested",
           "--strides", "1,2,4", "--grid-sizes", "4,4,6", "--threshold", "3", "--fixation", "center:0.25,0.75", "--vf", "scale=w=64:h=48,hflip",
           "--loop=2", "--frames", "40", "--progress", "none")


class Config(DumpTest):
    seconds, size = 1, "64x64"

    def write(self, text):
        path = self.folder / f"{self.id().rsplit('.', 1)[-1]}.toml"
        path.write_text(text)
        return path

    def test_print_config_reads_back_to_itself(self):
        for options in ((), OPTIONS, ("--loop",), ("--preset", "uv", "--lattice", "grid"), ("--vf", 'drawtext=text=\'a "b" \\\\ c\''), ("--lattice", "uniform:1.25"),
                        ("--input-format", "rawvideo:video_size=64x48:pixel_format=nv12"), ("--set", "crop-tags=no", "--set", "upload=auto")):
            first = saccade("dump", "--print-config", *options)
            self.assertEqual((first.returncode, first.stderr), (0, b""))
            config = self.write(first.stdout.decode())
            second = saccade("dump", "--print-config", "--config", config)
            self.assertEqual(second.returncode, 0, second.stderr.decode())
            self.assertEqual(first.stdout, second.stdout)

    def test_a_config_gives_the_same_dump(self):
        self.dump(*OPTIONS, out=self.folder / "by-options")
        config = self.write(saccade("dump", "--print-config", *OPTIONS).stdout.decode())
        self.dump("--config", config)
        self.assertEqual(load_json(self.out, "meta"), load_json(self.folder / "by-options", "meta"))
        by_options, by_config = load(self.folder / "by-options"), load(self.out)
        for name, array in by_options.items():
            self.assertEqual(array.tobytes(), by_config[name].tobytes(), name)

    def test_the_command_line_wins_and_a_table_beats_the_top(self):
        config = self.write('seed = 1\nrate = 3\nbudget-ms = 5.0\n[dump]\nrate = 2.5\n[profile]\nrate = 9\n')
        shown = saccade("dump", "--print-config", "--config", config, "--seed", "2").stdout.decode()
        self.assertIn("seed = 2\n", shown)
        self.assertIn("rate = 2.5\n", shown)
        self.assertNotIn("budget-ms", shown)

    def test_a_typed_option_takes_out_what_conflicts_with_it_in_the_file(self):
        tuned, nested = "e0 = 2.0\nm0 = 1.5\n", "lattice = 'nested'\n"
        for text, typed, kept, gone in (
                (nested + tuned, ("--preset", "uv"), (), ("e0", "m0")),
                (nested + "preset = 'uv'\n", ("--e0", "2"), (), ("preset",)),
                (nested + tuned, ("--patches", "100"), (), ("e0", "m0")),
                (nested + "patches = 100\n", ("--e0", "2"), (), ("patches",)),
                (tuned + "lattice = 'grid'\n", ("--patches", "100"), ("e0 = 2", "m0 = 1.5"), ()),
                (nested + "strides = [1, 2]\ngrid-sizes = [4, 4]\n", ("--patches", "100"), (), ("strides", "grid-sizes")),
                ("strides = [1, 2]\ngrid-sizes = [4, 4]\n", ("--lattice", "grid"), (), ("strides", "grid-sizes")),
                ("lattice = 'uniform'\nlod = 1.5\n", ("--lattice", "nested"), (), ("lod",)),
                ("target-psnr = 40.0\ncontext = '30s'\n", ("--lattice", "nested"), (), ("target-psnr", "context")),
                (nested + "fovea = '64'\npatches = 100\n", ("--lattice", "adaptive"), (), ("fovea", "patches")),
                ("lattice = 'uniform'\nlod = 1.5\n", ("--lattice", "uniform:2"), ("lod = 2",), ("lod = 1",)),
                ("strides = [1, 2]\ngrid-sizes = [4, 4]\n", ("--lattice", "uniform:2"), ("lod = 2",), ("strides", "grid-sizes")),
                ("input-size = '8x8'\n", ("--input-format", "gray:video_size=9x9"), ("input-size = '9x9'", ), ("input-size = '8x8'",)),
                ("lattice = 'grid'\nm0 = 1.5\n", ("--lattice", "nested"), ("m0 = 1.5",), ()),
                ("lattice = 'grid'\ne0 = 2.0\ntokens = 100\n", ("--lattice", "nested"), ("e0 = 2",), ("tokens",)),
                (nested + tuned, ("--tokens", "100"), (), ("e0", "m0")),
                (nested + "tokens = 100\nfovea = '4deg'\n", ("--preset", "uv"), (), ("tokens", "fovea")),
                ("lattice = 'grid'\ne0 = 2.0\npatches = 100\n", ("--lattice", "nested"), ("e0 = 2",), ("patches",)),
                (nested + tuned, ("--strides", "1,2", "--grid-sizes", "4,4"), ("grid-sizes",), ("e0", "m0")),
                (nested + "strides = [1, 2]\ngrid-sizes = [4, 4]\n", ("--e0", "2"), (), ("strides", "grid-sizes")),
                (nested + "strides = [1, 2]\ngrid-sizes = [4, 4]\n", ("--preset", "uv"), (), ("strides", "grid-sizes")),
                ("lattice = 'grid'\npreset = 'uv'\npatches = 100\n", ("--lattice", "nested"), ("preset = ",), ("patches",)),
                ("upload = 'pbo'\n", ("--backend", "cpu"), ("upload = 'auto",), ("upload = 'pbo",)),
                ("backend = 'cpu'\n", ("--set", "upload=direct"), ("upload = 'direct", "backend = 'auto",), ("backend = 'cpu",)),
                ("dtype = 'f32'\nnormalize = 'clip'\n", ("--dtype", "u8"), (), ("normalize = 'clip",)),
                ("resume = true\n", ("--overwrite",), ("overwrite = true",), ("resume = true",)),
                ("compact = true\n[dump]\nstart = 1.5\nloop = 2\nresume = true\n", ("--manifest", "list.txt"), (),
                 ("compact", "start = 1", "loop = 2", "resume = true"))):
            done = saccade("dump", "--print-config", "--config", self.write(text), *typed)
            said = f"{text}{typed}: {done.stderr.decode()}{done.stdout.decode()}"
            self.assertEqual(done.returncode, 0, said)
            lines = done.stdout.decode().splitlines()
            for word in (*kept, *([] if typed[0] in ("--manifest", "--set") else [typed[0][2:]])):  # which stands in no file
                self.assertTrue(any(line.startswith(word) for line in lines), said)
            for word in gone:
                self.assertFalse(any(line.startswith(word) for line in lines), said)
        # Within the file, or on the line, a conflict stays one.
        for text, typed in ((nested + tuned + "preset = 'uv'\n", ()), (nested, ("--e0", "2", "--preset", "uv"))):
            self.refuse(2, ["conflicts with", "preset"], "dump", "--print-config", "--config", self.write(text), *typed)

    def test_what_only_a_fovea_has_names_the_lattice(self):
        """Files and command lines of before there was another default mean what they meant."""
        for text in ("preset = 'uv'\n", "m0 = 1.5\n", "fovea = '64'\n", "patches = 100\n", "patch-size = 14\n"):
            shown = saccade("dump", "--print-config", "--config", self.write(text))
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("lattice = 'nested'", shown.stdout.decode().replace('"', "'"))
        config = self.write("lattice = 'adaptive'\nfovea = '64'\n")
        self.refuse(2, [f"saccade: {config}:2: fovea: needs --lattice nested"], "dump", "--print-config", "--config", config)

    def test_a_dump_by_a_manifest_takes_a_file_for_single_dumps(self):
        manifest = self.folder / "list.txt"
        manifest.write_text(f"{self.clip}\n")
        config = self.write("compact = true\nstart = 0.5\nresume = true\nlattice = 'nested'\npatches = 64\nbackend = 'cpu'\n")
        done = saccade("dump", "--manifest", manifest, "-o", self.out, "--config", config, "--progress", "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refuse(2, ["saccade: --compact: conflicts with --manifest"], "dump", "--manifest", manifest, "-o", self.folder / "no", "--compact")

    def test_a_view_takes_a_file_for_other_views(self):
        config = self.write("serve = '127.0.0.1:0'\nserve-origin = 'https://hub.example'\nview = 'compare:grid'\n")
        for typed in (("--offscreen", "--screenshot", "0=shot.png"), ("--view", "lod")):
            shown = saccade("view", self.clip, "--config", config, "--print-config", *typed)
            self.assertEqual(shown.returncode, 0, shown.stderr)
        shown = saccade("view", self.clip, "--config", self.write("serve-origin = 'https://a.example'\n"), "--print-config")
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_both_sides_of_a_conflict_are_named_by_their_places(self):
        config = self.write("hwdec = 'no'\n\nrequire-hwdec = true\n")
        self.refuse(2, [f"saccade: {config}:3: require-hwdec: conflicts with {config}:1: hwdec no"], "dump", self.clip, "-o", self.out, "--config", config)
        config = self.write("upload = 'pbo'\nbackend = 'cpu'\n")
        self.refuse(2, [f"saccade: {config}:1: upload pbo: {config}:2: backend cpu uploads to no GPU; use --backend"], "dump", self.clip, "-o", self.out,
                    "--config", config)
        config = self.write("normalize = 'clip'\n")
        self.refuse(2, [f"saccade: {config}:1: normalize: ", "add --dtype f16"], "dump", self.clip, "-o", self.out, "--config", config)

    def test_faults_of_an_open_stream_name_key_and_line(self):
        raw = self.folder / "raw.yuv"
        raw.write_bytes(bytes(6000))  # 64 x 64 would be 6144
        for code, text, key, value, source in (
                (2, "vf = 'nosuch'", "vf", "'nosuch': No such filter", self.clip),
                (2, "vf = 'crop=4000:4000'", "vf", "'crop=4000:4000': ", self.clip),
                (65, "vf = 'select=0'", "vf", "'select=0': the filters let no frame through", self.clip),
                (65, "stream = 7", "stream", "7: there is no video stream 7", self.clip),
                (65, "start = 100", "start", "100: no frame lies", self.clip),
                (65, "max-pixels = 100", "max-pixels", "100: 64x64 is 4096 pixels", self.clip),
                (2, "input-size = '64x64'", "input-size", "'64x64': ", self.clip),
                (65, "input-format = 'rawvideo'\ninput-size = '64x64'", "input-size", "'64x64': no frame", raw),
                (65, "input-format = 'mjpeg'", "input-format", "'mjpeg': no frame could be decoded", self.clip),
                (65, "input-format = 'mov'", "input-format", "'mov': can't be opened so", raw),
                (65, "fixation = 'file:/no/such.csv'", "fixation", "file:/no/such.csv: cannot read the scanpath", self.clip),
                (65, "levels = 16", "levels", "16: ", self.clip)):
            config = self.write(f"\n{text}\n")
            place = f"{config}:{text.count(chr(10)) + 2}: {key} "
            with self.subTest(text=text):
                self.refuse(code, [place + value], "dump", source, "-o", self.out, "--config", config, "--log-level", "warn")
                typed = [word for line in text.split("\n") for word in ("--set", line.replace(" = ", "=").replace("'", ""))]
                flag = {"max-pixels": "--set max-pixels=", "input-size": "--input-format video_size="}.get(key, f"--{key} ")
                self.refuse(code, [flag + value], "dump", source, "-o", self.out, "--log-level", "warn", *typed)

    def test_faults_name_key_and_line(self):
        for text, words in (("seed = 1\nsede = 2\n", [":2:", "sede", "seed"]),
                            ("min-pixels = 2\n", [":1:", "min-pixels: unknown option; it is called min-samples now"]),
                            ("overlay = 'off'\n", [":1:", "overlay: unknown option; the panel is part of show: panel,marks or none"]),
                            ("e0 = 'two'\n", [":1:", "e0", "number"]),
                            ("\n\nseed = 1.5\n", [":3:", "seed", "whole number"]),
                            ("dtype = 8\n", [":1:", "dtype", "string"]),
                            ("overwrite = 'yes'\n", [":1:", "overwrite", "true or false"]),
                            ("strides = 'a'\n", [":1:", "strides", "array"]),
                            ("threshold = 999\n", [":1:", "threshold", "999"]),
                            ("[dumb]\nseed = 1\n", [":1:", "dumb", "dump"]),
                            ("[dump]\nbudget-ms = 1\n", [":2:", "budget-ms", "dump"]),
                            ("seed = \n", [":1:"]),
                            ("config = 'x'\n", [":1:", "config", "command line"])):
            config = self.write(text)
            self.refuse(2, [str(config), *words], "dump", self.clip, "-o", self.out, "--config", config)
        self.refuse(2, ["missing.toml"], "dump", self.clip, "-o", self.out, "--config", self.folder / "missing.toml")

    def test_progress_as_json_lines(self):
        done = saccade("dump", self.clip, "-o", self.out, "--progress", "json", "--log-level", "off", "--every", "frame")
        lines = [json.loads(line) for line in done.stderr.decode().splitlines()]
        self.assertTrue(lines[-1]["done"])
        self.assertEqual(lines[-1]["frames"], 25)
        self.assertEqual(lines[-1]["emissions"], 25)

    def test_result_as_json(self):
        done = saccade("dump", self.clip, "-o", self.out, "--json", "--log-level", "off")
        result = json.loads(done.stdout)
        manifest = load_json(self.out, "manifest")
        self.assertEqual(result["path"], str(self.out))
        self.assertEqual(result["emissions"], manifest["emissions"])
        self.assertEqual(manifest["frames_decoded"], 25)
        self.assertEqual(manifest["stages"]["update"]["count"], 25)
        self.assertEqual(manifest["stages"]["write"]["count"], manifest["emissions"])
        self.assertLessEqual(manifest["stages"]["frame"]["p50_ms"], manifest["stages"]["frame"]["max_ms"])


if __name__ == "__main__":
    unittest.main()
