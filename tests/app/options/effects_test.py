"""Nothing is read and ignored: an option that the others leave without effect is refused by its name, with the reason."""
import json
import unittest

from dump_support import DumpTest, saccade

SHOT = ("--offscreen", "--screenshot", "0=shot.png")


class Effects(DumpTest):
    seconds, size = 1, "64x64"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = cls.folder / "made"
        done = saccade("dump", cls.clip, "-o", cls.made, "--frames", "5", "--lattice", "nested", "--patches", "64", "--backend", "cpu")
        assert done.returncode == 0, done.stderr

    def idle(self, option, words, *arguments):
        with self.subTest(arguments=arguments):
            self.refuse(2, [f"saccade: {option}: ", *words], *arguments, cwd=self.folder)

    def test_of_the_viewer(self):
        self.idle("--set vsync", ["page"], "view", self.clip, "--serve", "--set", "vsync=off")
        self.idle("--live-policy", ["--offscreen"], "view", self.clip, *SHOT, "--live-policy", "block")
        for name, setting in (("speed", "speed=2"), ("pause", "pause"), ("vsync", "vsync=off")):
            self.idle(f"--set {name}", ["--json"], "view", self.clip, *SHOT, "--show", "marks", "--set", setting)
        self.idle("--progress", ["view"], "view", self.clip, "--progress", "json")
        self.idle("--device", ["leave it out"], "view", self.clip, "--device", "1")

    def test_of_a_dump_in_the_viewer(self):
        for options in (("--tokens", "9"), ("--lattice", "grid"), ("--fixation", "center"), ("--start", "1"), ("--vf", "hflip"),
                        ("--seed", "3")):
            self.idle(options[0], ["dump"], "view", self.made, *SHOT, *options)
        self.idle("--set noise-floor", ["dump"], "view", self.made, *SHOT, "--set", "noise-floor=3")
        for options in (("--view", "split"), ("--view", "damage"), ("--view", "compare:grid")):
            self.idle(options[0], ["video"], "view", self.made, *SHOT, *options)
        done = saccade("view", self.folder, *SHOT, "--rate", "3")
        if b"this build has no viewer" not in done.stderr:
            self.assertEqual((done.returncode, b"meta.json" in done.stderr), (65, True), done.stderr)

    def test_of_dumps_and_profiles(self):
        for command in (("dump", self.clip, "-o", self.out), ("profile", self.clip)):
            for name, options in (("--ignore", ("--lattice", "nested", "--ignore", "1,1,9,9")), ("--set noise-floor", ("--set", "noise-floor=7"))):
                self.idle(name, ["--fixation", "novelty"], *command, "--fixation", "center", *options)
            self.idle("--device", ["leave it out"], *command, "--backend", "cpu", "--device", "1")
            self.idle("--set reconnect-delay-max", ["--reconnect 0"], *command, "--reconnect", "0", "--set", "reconnect-delay-max=3")
        for name, options in (("--unit-seconds", ("--unit-seconds", "30")), ("--set unit-bytes", ("--set", "unit-bytes=1000000")),
                              ("--segment", ("--segment", "3")), ("--set shard", ("--set", "shard=0/2"))):
            self.idle(name, ["--manifest"], "dump", self.clip, "-o", self.out, *options)
        self.idle("--progress", ["profile"], "profile", self.clip, "--progress", "none")
        self.assertFalse(self.out.exists())

    def test_of_info(self):
        for options in (("--tokens", "9"), ("--vf", "hflip"), ("--levels", "3"), ("--threads", "2")):
            self.idle(options[0], ["INPUT"], "info", *options)
            self.idle(options[0], ["INPUT"], "info", "--devices", *options)
        for options in (("--frames", "2"), ("--duration", "2"), ("--loop",)):
            self.idle(options[0], ["info"], "info", self.clip, *options)
        self.idle("--device", ["leave it out"], "info", self.clip, "--device", "1")

    def test_of_reconstruct(self):
        self.idle("--threads", ["--against"], "reconstruct", self.made, "-o", "made.png", "--threads", "2")
        self.idle("--overwrite", ["-o"], "reconstruct", self.made, "--against", self.clip, "--overwrite")
        self.assertFalse((self.folder / "made.png").exists())

    def test_of_a_test_source(self):
        for options, word in ((("--input-format", "video_size=8x8"), "--input-format video_size='8x8': "), (("--input-format", "framerate=5"), "--input-format framerate='5': "),
                              (("--input-format", "pixel_format=nv12"), "--input-format pixel_format='nv12': "), (("--input-format", "h264"), "--input-format"),
                              (("--deinterlace", "yes"), "--deinterlace yes"), (("--vf", "hflip"), "--vf")):
            with self.subTest(options=options):
                self.refuse(2, [word], "dump", "test://box?size=64x64", "-o", self.out, *options)
        self.refuse(65, ["no video stream 2"], "dump", "test://box?size=64x64", "-o", self.out, "--stream", "2")
        for name, *options in (("--threads", "--threads", "2"), ("--set crop-tags", "--set", "crop-tags=no"),
                               ("--rtsp-transport", "--rtsp-transport", "udp"), ("--reconnect", "--reconnect", "2"),
                               ("--set open-timeout", "--set", "open-timeout=3")):
            self.idle(name, ["test source"], "dump", "test://box?size=64x64", "test://pan?size=64x64", "-o", self.out, *options)
        self.idle("--threads", ["test source"], "reconstruct", self.made, "--against", "test://box?size=64x64", "--threads", "2")

    def test_of_inputs(self):
        self.idle("--rtsp-transport", ["rtsp://"], "dump", self.clip, "-o", self.out, "--rtsp-transport", "udp")
        self.idle("--reconnect", ["file"], "profile", self.clip, "--reconnect", "3")
        self.assertFalse(self.out.exists())
        # Defaults, what one of several inputs follows, and a share of a manifest.
        self.dump("--frames", "2", "--jobs", "1", "--threads", "0", "--reconnect", "5", out=self.folder / "defaults")
        done = saccade("dump", self.clip, "test://box?size=64x64&frames=2", "-o", self.folder / "two", "--threads", "2", "--jobs", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        # As many as there are at most: a pattern may match one file.
        alone = [self.folder / name for name in ("jobs-4", "jobs-1")]
        for out in alone:
            self.dump("--frames", "2", "--jobs", out.name[-1], out=out)
        self.assertEqual(*((out / "patches.npy").read_bytes() for out in alone))
        manifest = self.folder / "one.txt"
        manifest.write_text(f"{self.clip}\n")
        done = saccade("dump", "--manifest", manifest, "-o", self.folder / "one", "--jobs", "2", "--lattice", "nested", "--patches", "64", "--backend", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_has_an_effect_is_taken(self):
        for arguments in (("view", self.clip, "--set", "vsync=off", *SHOT, "--print-config"),
                          ("reconstruct", self.made, "-o", "true.png", "--against", self.clip, "--threads", "1", "--overwrite"),
                          ("info", self.clip, "--levels", "3"),
                          ("dump", self.clip, "-o", self.out, "--ignore", "1,1,9,9", "--fixation", "saliency")):
            with self.subTest(arguments=arguments):
                done = saccade(*arguments, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_default_may_be_typed(self):
        self.dump("--frames", "2", "--set", "noise-floor=8", "--fixation", "center", "--unit-seconds", "300", "--device", "0")

    def test_a_number_after_loop_is_no_input(self):
        for command in (("dump", self.clip, "-o", self.out, "--loop", "3"), ("dump", "--loop", "3", self.clip, "-o", self.out)):
            self.idle("--loop", ["'3'", "--loop=3"], *command)
        self.assertFalse(self.out.exists())
        self.dump("--loop=1", "--frames", "30")

    def test_a_settings_file_may_hold_what_has_none(self):
        config = self.folder / "all.toml"
        config.write_text('noise-floor = 5\nignore = "1,1,9,9"\nfixation = "center"\nprogress = "none"\nframes = 2\n'
                          'unit-seconds = 3\nsegment = 3\n')
        self.dump("--config", config)
        self.assertEqual(saccade("info", self.clip, "--config", config).returncode, 0)


class Retry(DumpTest):
    seconds, size = 1, "64x64"

    def test_json_is_what_was_planned(self):
        manifest, store = self.folder / "list.txt", self.folder / "store"
        manifest.write_text(f"{self.clip}\n{self.folder}/missing.mp4\n")
        self.assertEqual(saccade("plan", manifest, "-o", store, "--lattice", "nested", "--patches", "64", "--backend", "cpu").returncode, 0)
        self.assertEqual(saccade("work", store, "--progress", "none").returncode, 3)
        done = saccade("retry", store, "-o", self.folder / "again", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual((said["made"], said["items"], said["units"], said["path"]), (True, 1, 1, str(self.folder / "again")))
        none = saccade("retry", store, "-o", self.folder / "none", "--class", "crash", "--json")
        self.assertEqual(json.loads(none.stdout), {"made": False, "items": 0, "units": 0})


if __name__ == "__main__":
    unittest.main()
