"""`view --serve` as a client without a browser sees it: pictures, roles, limits, downloads, and what it leaves behind."""
import json
import os
import pathlib
import shlex
import signal
import socket
import stat
import subprocess
import time
import tomllib
import unittest

import numpy as np
from patience import PATIENCE, until_idle
from program import SACCADE, FolderTest, saccade
from view_support import read_png, shoot
from web_support import TOKEN, ServedViewer, WebClient

SOURCE = "test://box?size=320x180&rate=25&frames=2500"
PLAIN = ("--set", "pause", "--show", "marks", "--fixation", "center")


def decode(jpeg):
    raw = subprocess.run(["ffmpeg", "-v", "error", "-f", "mjpeg", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], input=jpeg,
                         capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8)


def psnr(one, other):
    return 10 * np.log10(255**2 / max(np.mean((one.astype(float) - other.astype(float)) ** 2), 1e-9))


class Served(FolderTest):
    def serve(self, source=SOURCE, *arguments, **options):
        viewer = ServedViewer(source, *arguments, **options)
        self.addCleanup(viewer.kill)
        return viewer

    def join(self, viewer, token=TOKEN, **options):
        client = WebClient(viewer.port, token, **options)
        self.addCleanup(client.close)
        return client

    def driver(self, viewer, **options):
        return self.join(viewer, **options).wait_for(lambda c: c.role.get("role") == "drive" and c.state and c.pictures, "driving")

    def end(self, viewer):
        self.assertEqual(viewer.stop(), 0, "".join(viewer.errors))
        self.assertNotIn("OpenGL", "".join(viewer.errors))


class Pictures(Served):
    def test_what_stands_still_is_sharp_and_the_first_is_good(self):
        wanted = shoot(self.folder, SOURCE, *PLAIN[2:], "--size", "640x360")
        viewer = self.serve(SOURCE, *PLAIN, "--size", "640x360")
        client = self.driver(viewer).wait_for(lambda c: c.pictures[-1]["sharp"], "a sharp picture")
        first = next(p for p in client.pictures if not p["sharp"])
        for picture, least_db in ((first, 30), (client.pictures[-1], 42)):
            self.assertEqual(picture["size"], (640, 360))
            self.assertGreaterEqual(psnr(decode(picture["jpeg"]).reshape(wanted.shape), wanted), least_db)
        self.end(viewer)

    def test_views_of_the_receiver_need_lattice_adaptive(self):
        for lattice, view in (("adaptive", "held"), ("nested", "frame")):
            with self.subTest(lattice=lattice):
                viewer = self.serve(SOURCE, *PLAIN, "--lattice", lattice)
                client = self.driver(viewer)
                self.assertEqual("held" in client.state["views"], lattice == "adaptive")
                client.send("set", "view held")
                client.send("set", "loop 1")
                client.wait_for(lambda c: c.state["loop"], "both")
                self.assertEqual(client.state["view"], view)
                self.end(viewer)

    def test_inputs_are_applied_and_numbered(self):
        viewer = self.serve(SOURCE, *PLAIN)
        client = self.driver(viewer)
        client.applied(client.send("resize", 800, 450, 1))
        client.wait_for(lambda c: c.pictures[-1]["size"] == (800, 450), "as large as the page")
        client.send("press", 600, 112.5, 0)
        client.applied(client.send("release", 600, 112.5, 0))
        client.wait_for(lambda c: abs(c.state["gaze"][0] - 0.75) < 0.01 and abs(c.state["gaze"][1] - 0.25) < 0.01, "the eye where the click was")
        for what, field, wanted in (("view foveated", "view", "foveated"), ("level 3", "level", 3), ("speed 2", "speed", 2), ("loop 1", "loop", True),
                                    ("panel 1", "panel", True), ("panel 0", "panel", False), ("quality 5", "rung", 5), ("quality -1", "rung_fixed", False)):
            client.send("set", what)
            client.wait_for(lambda c: c.state[field] == wanted, what)
        client.send("seek", 2)
        client.wait_for(lambda c: c.state["t"] == 2, "two seconds on")
        client.send("step", 1)
        client.wait_for(lambda c: abs(c.state["t"] - 2.04) < 1e-6 and c.pictures[-1]["pts_ns"] == 2_040_000_000, "a frame on")
        client.send("key", "down", "Tab", 0, "Tab")
        client.wait_for(lambda c: c.state["view"] == "level", "the next view")
        client.send("wheel", 400, 225, 0, 1)
        viewer.wait_for(lambda s: s.get("settings", {}).get("zoom", 1) > 1.1, "zoomed")
        self.end(viewer)

    def test_it_plays_and_stands_still_while_nobody_looks(self):
        viewer = self.serve(SOURCE)
        time.sleep(0.5)
        began = time.monotonic()
        client = self.driver(viewer)
        # It waited: it has played no longer than someone has been looking.
        self.assertLessEqual(client.pictures[0]["pts_ns"], (time.monotonic() - began) * 1e9)
        client.wait_for(lambda c: c.state["t"] > 1, "playing")
        began = time.monotonic()
        client.say("hidden 1")
        while client.receive(0.7) is not None:  # it stands still
            pass
        last = client.pictures[-1]
        time.sleep(1)
        client.say("hidden 0")
        client.wait_for(lambda c: c.pictures[-1]["seq"] > last["seq"] + 5, "pictures again")
        first = next(p for p in client.pictures if p["seq"] > last["seq"])
        # It goes on where it stood: it has not played in the second of sleep.
        self.assertLess(first["pts_ns"] - last["pts_ns"], (time.monotonic() - began - 1) * 1e9)
        self.end(viewer)

    def test_idle_costs_nothing(self):
        viewer = self.serve(SOURCE, *PLAIN)
        client = self.driver(viewer).wait_for(lambda c: c.pictures[-1]["sharp"], "a sharp picture")
        for name in ("paused and watched", "nobody"):
            with self.subTest(name):
                if name == "nobody":
                    client.close()
                while name != "nobody" and client.receive(0.5) is not None:
                    pass
                until_idle(viewer.cpu_s, 0.02 * PATIENCE)
        self.end(viewer)


class Roles(Served):
    def test_who_drives(self):
        viewer = self.serve(SOURCE, *PLAIN)
        first = self.driver(viewer)
        self.assertEqual(first.role["watch"], viewer.watch_token)
        watcher = self.join(viewer, viewer.watch_token).wait_for(lambda c: c.pictures and c.role, "watching")
        self.assertEqual((watcher.role["role"], watcher.role["may_drive"], "watch" in watcher.role), ("watch", False, False))
        watcher.send("set", "view lod")
        watcher.say("take")
        watcher.send("seek", 3)
        second = self.join(viewer).wait_for(lambda c: c.role and c.state, "a second page")
        self.assertEqual((second.role["role"], second.role["may_drive"], second.role["clients"]), ("watch", True, 3))
        second.send("set", "view damage")
        first.applied(first.send("set", "loop 1"))
        self.assertEqual((first.state["view"], first.state["t"]), ("frame", 0))
        second.say("take")
        second.wait_for(lambda c: c.role["role"] == "drive", "the second drives")
        first.wait_for(lambda c: c.role["role"] == "watch", "the first watches")
        first.send("set", "view lod")
        second.send("set", "view damage")
        watcher.wait_for(lambda c: c.state["view"] == "damage", "what the second did")
        second.close()
        first.wait_for(lambda c: c.role["role"] == "drive", "the first drives again")
        first.close()
        watcher.wait_for(lambda c: not c.role["driven"], "nobody drives")
        watcher.send("set", "view lod")
        self.assertEqual(watcher.state["view"], "damage")
        self.end(viewer)

    def test_tokens_versions_and_crowds(self):
        viewer = self.serve(SOURCE, *PLAIN)
        good = self.driver(viewer)
        for token, version, code in (("f" * 32, 1, 4401), (TOKEN[:-1], 1, 4401), (TOKEN + "0", 1, 4401), (viewer.watch_token.upper(), 1, 4401), (TOKEN, 2, 4426)):
            with self.subTest(token=token, version=version):
                self.assertEqual(self.join(viewer, token, version=version).wait_closed(), code)
        more = [self.join(viewer, viewer.watch_token).wait_for(lambda c: c.role, "in") for _ in range(7)]
        self.assertEqual(self.join(viewer).wait_closed(), 4403)
        more[0].close()
        good.wait_for(lambda c: c.role["clients"] == 7, "one went")
        self.join(viewer).wait_for(lambda c: c.role, "room again")
        self.end(viewer)

    def test_what_is_said_wrong_ends_the_connection(self):
        viewer = self.serve(SOURCE, *PLAIN)
        good = self.driver(viewer)
        for text in ("", "nonsense", "move 1 2", "move 1 nan 2", "hello 1 " + TOKEN, "set 1 view ../../etc", "key 1 down", b"ack 1", "paste 1 " + "x" * 3900 + "é" * 200):
            with self.subTest(text=text):
                client = self.join(viewer).wait_for(lambda c: c.role, "in")
                client.say(text)
                self.assertIn(client.wait_closed(), (4400, 1009) if isinstance(text, str) and len(text.encode()) > 4096 else (4400,))
        flood = self.join(viewer).wait_for(lambda c: c.role, "in")
        for _ in range(2500):
            flood.say("ping 1")
        self.assertEqual(flood.wait_closed(), 4429)
        good.applied(good.send("set", "loop 1"))
        self.end(viewer)


class Downloads(Served):
    def test_settings_screenshot_and_the_line_that_dumps(self):
        viewer = self.serve(SOURCE, *PLAIN, "--threshold", "3", "--seed", "7")
        client = self.driver(viewer)
        client.send("ask", "settings")
        client.wait_for(lambda c: c.files, "the settings")
        name, text = client.files[-1]
        self.assertEqual(name, "saccade.toml")
        self.assertEqual(tomllib.loads(text.decode())["threshold"], 3)
        client.send("key", "down", "s", 0, "KeyS")
        client.wait_for(lambda c: len(c.files) == 2, "the screenshot")
        name, png = client.files[-1]
        self.assertEqual(name, "saccade-00.00.00.000.png")
        (self.folder / "shot.png").write_bytes(png)
        self.assertGreater(psnr(read_png(self.folder / "shot.png"), shoot(self.folder, SOURCE, *PLAIN[2:], "--threshold", "3", "--seed", "7")), 40)
        client.send("ask", "line")
        client.wait_for(lambda c: any(t["type"] == "clipboard" for t in c.texts), "the line")
        words = shlex.split(next(t for t in client.texts if t["type"] == "clipboard")["text"])
        self.assertEqual(words[:3], ["saccade", "dump", SOURCE])
        words[words.index("DIR")] = str(self.folder / "dumped")
        self.assertEqual(saccade(*words[1:], "--frames", 3).returncode, 0)
        self.assertEqual(json.loads((self.folder / "dumped" / "meta.json").read_text())["options"]["threshold"], "3")
        self.assertEqual(list(pathlib.Path.cwd().glob("saccade*.toml")) + list(pathlib.Path.cwd().glob("saccade-0*.png")), [])
        client.send("key", "down", "q", 0, "KeyQ")
        client.applied(client.send("set", "loop 1"))
        self.assertIsNone(viewer.process.poll())  # a page ends no program
        self.end(viewer)

    def test_the_line_that_dumps_ends(self):
        for loop in ("--loop", "--loop=3"):
            with self.subTest(loop):
                viewer = self.serve(SOURCE, *PLAIN, "--threshold", "3", loop)
                client = self.driver(viewer)
                client.send("ask", "line")
                client.wait_for(lambda c: any(t["type"] == "clipboard" for t in c.texts), "the line")
                line = next(t for t in client.texts if t["type"] == "clipboard")["text"]
                self.assertIn("--threshold 3", line)
                self.assertNotIn("--loop", line)
                self.end(viewer)

    def ask_300_times(self, client):
        for _ in range(150):
            client.send("ask", "screenshot")
            client.send("key", "down", "s", 0, "KeyS")
            client.send("key", "up", "s", 0, "KeyS")

    def test_many_screenshots_hold_up_nothing_else(self):
        viewer = self.serve(SOURCE, "--set", "pause", "--size", "1280x720")
        client = self.driver(viewer)
        self.ask_300_times(client)
        client.applied(client.send("set", "loop 1"))
        before = len(client.files)
        self.assertLess(before, 10)  # what was asked before it was not all made first
        client.wait_for(lambda c: c.files, "a screenshot")
        client.send("set", "view lod")
        client.send("ask", "screenshot")  # the last one is made as it was asked for
        client.wait_for(lambda c: c.state["view"] == "lod" and len(c.files) > before, "another")
        self.end(viewer)

    def test_it_ends_while_screenshots_wait(self):
        viewer = self.serve(SOURCE, "--set", "pause", "--size", "1280x720")
        client = self.driver(viewer)
        self.ask_300_times(client)
        self.assertEqual(viewer.stop(), 0, "".join(viewer.errors))
        while client.close_code is None:
            client.receive(60 * PATIENCE)
        self.assertLess(len(client.files), 10)

    def test_e0_is_saved_as_it_is_written(self):
        viewer = self.serve(SOURCE, "--set", "pause", "--lattice", "grid")
        client = self.driver(viewer)
        for name, text in (("value-m0", "3.3"), ("value-e0", "1.7")):
            client.applied(client.send("move", 3, 3))
            box = viewer.wait_for(lambda s: name in s.get("controls", {}), name)["controls"][name]
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            client.send("press", x, y, 0)
            client.send("release", x, y, 0)
            for key, code in (*((c, "Period" if c == "." else f"Digit{c}") for c in text), ("Enter", "Enter")):
                client.send("key", "down", key, 0, code)
                client.applied(client.send("key", "up", key, 0, code))
            client.send("ask", "settings")
            known = len(client.files)
            client.wait_for(lambda c: len(c.files) > known, "the settings")
            saved = tomllib.loads(client.files[-1][1].decode())
            self.assertEqual((saved["e0"], saved["m0"]), (2.3 if name == "value-m0" else 1.7, 3.3))  # 2.3 is the default
        self.end(viewer)


class Places(Served):
    def test_a_socket_in_the_file_system_is_its_owners(self):
        path = self.folder / "socket"
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(path))
        left.close()  # as a killed program leaves one
        viewer = self.serve(SOURCE, *PLAIN, where=f"unix:{path}")
        self.assertEqual((viewer.port, viewer.at["address"]), (0, str(path)))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200"))
        other = saccade("view", SOURCE, "--serve", f"unix:{path}")
        self.assertEqual(other.returncode, 69, other.stderr)
        self.assertIn(str(path), other.stderr)
        self.end(viewer)
        self.assertFalse(path.exists())
        path.write_text("mine")
        self.assertEqual(saccade("view", SOURCE, "--serve", f"unix:{path}").returncode, 69)
        self.assertEqual(path.read_text(), "mine")

    def test_a_taken_port_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = saccade("view", SOURCE, "--serve", f"127.0.0.1:{port}")
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(f"127.0.0.1:{port}", done.stderr)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)

    def test_why_it_ended_is_told_to_the_pages(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:  # a port to which nobody sends
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
        viewer = self.serve(f"udp://user:secret@127.0.0.1:{port}", "--set", "open-timeout=2")
        client = self.join(viewer).wait_for(lambda c: c.role, "in")
        self.assertEqual(client.wait_closed(), 1001)
        self.assertIn(f"127.0.0.1:{port}", client.close_reason)
        self.assertNotIn("secret", client.close_reason)
        self.assertEqual(viewer.finish(), 65, "".join(viewer.errors))

    def test_the_token_comes_from_the_environment_or_is_random(self):
        for text in ("short", "white space in it 0123456789"):
            bad = saccade("view", SOURCE, "--serve", "127.0.0.1:0", env={**os.environ, "SACCADE_TOKEN": text})
            self.assertEqual(bad.returncode, 2, bad.stderr)
            self.assertNotIn("space in it", bad.stderr)
        viewer = self.serve(SOURCE, *PLAIN, token="a-token-of-my-own")
        self.assertTrue(viewer.url.endswith("#a-token-of-my-own"))
        self.driver(viewer, token="a-token-of-my-own")
        self.end(viewer)
        one, other = (self.serve(SOURCE, *PLAIN, token=None) for _ in range(2))
        tokens = {v.url.split("#")[1] for v in (one, other)} | {one.watch_token, other.watch_token}
        self.assertEqual((len(tokens), {len(t) for t in tokens}), (4, {32}))

    def test_stdout_is_the_url_and_stderr_the_ssh_line(self):
        environment = {**os.environ, "SACCADE_TOKEN": TOKEN, "SSH_CONNECTION": "192.0.2.7 50000 203.0.113.9 22"}
        process = subprocess.Popen([SACCADE, "view", SOURCE, *PLAIN, "--serve", "127.0.0.1:0"], env=environment, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        line = process.stdout.readline()
        port = int(line.split(":")[2].split("/")[0])
        self.assertEqual(line, f"http://127.0.0.1:{port}/#{TOKEN}\n")
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60 * PATIENCE)
        self.assertEqual((process.returncode, out), (0, ""), errors)
        self.assertIn(f"ssh -N -L {port}:127.0.0.1:{port} ", errors)
        self.assertIn("@203.0.113.9\n", errors)

    def test_the_ssh_line_fits_where_it_listens(self):
        folder = self.folder / "a folder"
        folder.mkdir()
        socket_path = folder / "s.sock"
        for where, connection, words in (("127.0.0.2:0", "192.0.2.7 50000 203.0.113.9 2222", r"-L (\d+):127\.0\.0\.2:\1 -p 2222 \S+@203\.0\.113\.9"),
                                         ("0.0.0.0:0", "192.0.2.7 50000 203.0.113.9 22", r"-L (\d+):127\.0\.0\.1:\1 \S+@203\.0\.113\.9"),
                                         (f"unix:{socket_path}", "192.0.2.7 50000 203.0.113.9 22", f"-L '7373:{socket_path}' "),
                                         (f"unix:{socket_path}", "", f"ssh -N -L 7373:'{socket_path}' HOST")):
            with self.subTest(where=where, connection=connection):
                viewer = self.serve(SOURCE, *PLAIN, where=where, environment={"SSH_CONNECTION": connection})
                self.end(viewer)
                self.assertRegex("".join(viewer.errors), words)

    def test_a_socket_that_takes_no_streams_is_left_alone(self):
        path = self.folder / "datagrams"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.bind(str(path))
            done = saccade("view", SOURCE, *PLAIN, "--serve", f"unix:{path}")
            self.assertEqual((done.returncode, done.stdout), (69, ""), done.stderr)
            self.assertTrue(path.is_socket())

    def test_what_can_not_be_served_is_said(self):
        for arguments, code, words in ((("--serve", "clip.mp4:x"), 2, "ADDR:PORT"), (("--serve", "unix:"), 2, "unix:PATH"), (("--set", "serve-origin=https://a"), 2, "--serve"),
                                       (("--serve", "--set", "serve-origin=null"), 2, "origin"), (("--serve", "--offscreen", "--screenshot", "0=x.png"), 2, "--offscreen"),
                                       (("--serve", "no.such.host.invalid:80"), 69, "no.such.host.invalid")):
            with self.subTest(arguments=arguments):
                done = saccade("view", SOURCE, *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")
        missing = saccade("view", self.folder / "none.mp4", "--serve", "127.0.0.1:0")
        self.assertEqual((missing.returncode, missing.stdout), (65, ""), missing.stderr)
        self.assertIn("none.mp4", missing.stderr)

    def test_the_end_is_told_to_the_pages(self):
        viewer = self.serve(SOURCE)
        client = self.driver(viewer)
        self.end(viewer)
        self.assertEqual(client.wait_closed(), 1001)


class Crowds(Served):
    def test_who_reads_nothing_holds_nobody_up(self):
        viewer = self.serve("test://noise?size=320x180&rate=25&frames=2500", "--show", "marks")
        mute = self.join(viewer, viewer.watch_token, acks=False).wait_for(lambda c: c.role, "in")
        deaf = [self.join(viewer, viewer.watch_token) for _ in range(3)]  # receive() is never called
        client = self.driver(viewer)
        client.wait_for(lambda c: c.state["t"] > 1, "playing")
        before = viewer.memory_bytes()
        client.wait_for(lambda c: c.state["t"] > 4, "playing on")
        self.assertLess(viewer.memory_bytes() - before, 30e6 * PATIENCE)
        while mute.receive(0.2) is not None:
            pass
        self.assertLessEqual(len(mute.pictures), 2)
        self.assertEqual(len(deaf), 3)
        self.end(viewer)

    def test_a_hundred_come_and_go(self):
        viewer = self.serve(SOURCE, *PLAIN)
        client = self.driver(viewer)
        files = lambda: len(os.listdir(f"/proc/{viewer.process.pid}/fd"))
        before = files()
        for i in range(100):
            guest = WebClient(viewer.port, viewer.watch_token, hello=i % 3 != 0)
            if i % 3 == 1:
                guest.wait_for(lambda c: c.pictures, "a picture")
            if i % 2:
                guest.socket.transport.abort()  # as a pulled cable ends it
            guest.close()
        client.wait_for(lambda _: files() <= before, "no file left open")
        client.wait_for(lambda c: c.role["clients"] == 1, "alone again")
        client.applied(client.send("set", "loop 1"))
        self.end(viewer)


if __name__ == "__main__":
    unittest.main()
