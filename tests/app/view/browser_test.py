"""The viewer's page in a real browser: mouse, keys, links, what a person sees of loss, and a console that stays empty."""
import http.server
import os
import pathlib
import socket
import sys
import threading
import time
import unittest

import numpy as np
from browser import Browser
from patience import until_still, wait_for
from program import SACCADE, FolderTest, saccade
from view_support import read_png, shoot
from web_support import TOKEN, Relay, ServedViewer

SOURCE = "test://box?size=640x360&rate=25&frames=2500"
PLAIN = ("--set", "pause", "--show", "marks", "--fixation", "center")
SHIFT, CONTROL = 8, 2


class Browsed(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def serve(self, source=SOURCE, *arguments, **options):
        viewer = ServedViewer(source, *arguments, **options)
        self.addCleanup(viewer.kill)
        return viewer

    def context(self):
        """Tabs of one context share what they store, as those of one person do."""
        return self.browser.call("Target.createBrowserContext")["browserContextId"]

    def open(self, url, wait="drive", **options):
        tab = self.browser.open(url, context=options.pop("context", None) or self.context(), **options)
        self.addCleanup(tab.close)
        if wait:
            tab.wait_for(f"saccadeViewer.stats.role === '{wait}' && saccadeViewer.stats.pictures > 0 && saccadeViewer.stats.state", f"a page that may {wait}")
        return tab

    def quiet(self, *tabs):
        for tab in tabs:
            self.assertEqual(tab.complaints(), [])

    @staticmethod
    def state(tab, condition, what):
        return tab.wait_for(f"(() => {{ const s = saccadeViewer.stats.state; return ({condition}) && JSON.stringify(s); }})()", what)

    @staticmethod
    def settle(tab):
        """Waits until the picture has the size of its place, and what it shows is sharp and holds all input. Input that changes
        nothing gets a state, and no picture."""
        tab.wait_for("""(() => {
            const { stats, link } = saccadeViewer, canvas = document.getElementById('picture'), box = canvas.getBoundingClientRect();
            const fits = canvas.width === Math.round(box.width * devicePixelRatio) && canvas.height === Math.round(box.height * devicePixelRatio);
            return fits && stats.isSharp && Math.max(stats.applied, stats.state.applied) >= link.number;
        })()""", "what stands still is sharp")

    @classmethod
    def seen(cls, tab, path):
        """The picture as the page shows it, once it stands still, and its size in CSS pixels."""
        box = "(() => { const b = document.getElementById('picture').getBoundingClientRect(); return [b.width, b.height]; })()"
        size = "[document.getElementById('picture').width, document.getElementById('picture').height]"
        while True:
            cls.settle(tab)
            before = tab.value(size), tab.value(box)
            tab.picture(path)
            if (tab.value(size), tab.value(box)) == before:
                (width, height), css = before
                return read_png(path)[:height, :width], css

    @staticmethod
    def place(tab, u, v):
        """CSS pixels of a place of the video, which fills the canvas up to its shape."""
        box = tab.value("(() => { const b = document.getElementById('picture').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
        scale = min(box[2] / 640, box[3] / 360)
        return (box[0] + box[2] / 2 + (u - 0.5) * 640 * scale, box[1] + box[3] / 2 + (v - 0.5) * 360 * scale)


class Page(Browsed):
    def test_a_click_moves_the_eye_and_keys_need_it(self):
        viewer = self.serve(SOURCE, *PLAIN, "--lattice", "nested")
        tab = self.open(viewer.url)
        self.assertEqual(tab.value("location.href"), viewer.base)  # the token is out of sight
        tab.key("Tab")
        self.assertEqual(tab.value("saccadeViewer.stats.state.view"), "frame")  # it was the browser's
        tab.value("document.activeElement.blur()")
        tab.wheel(*self.place(tab, 0.5, 0.5), -100)
        tab.click(*self.place(tab, 0.75, 0.25))
        self.state(tab, "Math.abs(s.gaze[0] - 0.75) < 0.01 && Math.abs(s.gaze[1] - 0.25) < 0.01", "the eye where the click was")
        viewer.drain()
        self.assertEqual(viewer.history[-1]["settings"]["zoom"], 1)  # a wheel before the click is the page's
        tab.key("Tab")
        self.state(tab, "s.view === 'foveated'", "Tab is the viewer's now")
        tab.key("Tab", modifiers=SHIFT)
        self.state(tab, "s.view === 'frame'", "and back")
        tab.wheel(*self.place(tab, 0.5, 0.5), -100)
        viewer.wait_for(lambda s: s.get("settings", {}).get("zoom", 1) > 1.1, "zoomed")
        tab.key(".")
        self.state(tab, "Math.abs(s.t - 0.04) < 1e-6", "a frame on")
        tab.key("Escape")
        self.assertNotEqual(tab.value("document.activeElement.id"), "picture")
        tab.key("m")
        tab.key("Tab")
        time.sleep(0.3)
        self.assertEqual(tab.value("saccadeViewer.stats.state.view"), "frame")
        self.assertGreater(len(tab.value("saccadeViewer.link.delays")), 2)  # it measures what a person waits
        self.quiet(tab)

    def test_what_it_shows_is_what_pictures_show(self):
        viewer = self.serve(SOURCE, *PLAIN)
        for ratio in (1, 2):
            with self.subTest(ratio=ratio):
                tab = self.open(viewer.url, size=(700, 500), ratio=ratio)
                seen, css = self.seen(tab, self.folder / "page.png")
                height, width = seen.shape[:2]
                self.assertEqual((width, height), (round(css[0] * ratio), round(css[1] * ratio)))
                wanted = shoot(self.folder, SOURCE, *PLAIN[2:], "--size", f"{width}x{height}", "--set", f"ui-scale={ratio}")
                inner = (slice(4, -4), slice(4, -4))  # without the frame of what has the focus
                error = np.mean((seen[inner].astype(float) - wanted[inner]) ** 2)
                self.assertGreaterEqual(10 * np.log10(255**2 / error), 40)
                tab.close()

    def test_the_bar_plays_seeks_and_chooses(self):
        viewer = self.serve(SOURCE, "--set", "pause")
        tab = self.open(viewer.url)
        click = lambda name: tab.value(f"document.getElementById('{name}').click()")
        click("on")
        self.state(tab, "Math.abs(s.t - 0.04) < 1e-6", "a frame on")
        click("play")
        self.state(tab, "!s.paused && s.t > 0.5", "playing")
        self.assertEqual(tab.value("document.getElementById('play').getAttribute('aria-label')"), "Pause")
        click("play")
        self.state(tab, "s.paused", "paused")
        choose = lambda name, value: tab.value(f"(() => {{ const e = document.getElementById('{name}'); e.value = '{value}'; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }})()")
        choose("seek", "42.4")
        self.state(tab, "s.t === 42.4 && s.paused", "there")
        for name, value, condition in (("view", "lod", "s.view === 'lod'"), ("speed", "2", "s.speed === 2"), ("view", "level", "s.view === 'level'"), ("level", "2", "s.level === 2"),
                                       ("quality", "5", "s.rung === 5 && s.rung_fixed"), ("quality", "-1", "!s.rung_fixed")):
            choose(name, value)
            self.state(tab, condition, f"{name} {value}")
        click("panel")
        self.state(tab, "!s.panel", "panels off")
        self.settle(tab)
        before = tab.value("saccadeViewer.stats.applied")
        choose("scale", "2")
        tab.wait_for(f"saccadeViewer.stats.applied > {before}", "larger letters")
        self.quiet(tab)

    def test_the_panel_takes_text_and_gives_it(self):
        viewer = self.serve(SOURCE, *PLAIN[:2], "--fixation", "center:0.5,0.5")
        tab = self.open(viewer.url, size=(1280, 900))
        self.settle(tab)
        tab.mouse("mouseMoved", 5, 5)
        box = viewer.wait_for(lambda s: "argument" in s.get("controls", {}), "the field of the place")["controls"]["argument"]
        tab.click((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        self.state(tab, "s.typing", "the field has the keyboard")
        tab.key("a", modifiers=CONTROL)
        tab.value("""(() => { const data = new DataTransfer(); data.setData('text/plain', '0.25,0.75');
            document.getElementById('picture').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true })); })()""")
        tab.key("Enter")
        self.state(tab, "s.gaze[0] === 0.25 && s.gaze[1] === 0.75", "the pasted place")
        self.quiet(tab)

    def test_escape_closes_the_help_and_a_list_before_it_lets_go(self):
        viewer = self.serve(SOURCE, *PLAIN)
        tab = self.open(viewer.url, size=(1400, 900))
        tab.click(*self.place(tab, 0.5, 0.5))
        tab.key("?", modifiers=SHIFT)
        viewer.wait_for(lambda s: s.get("settings", {}).get("help"), "the list of keys")
        self.state(tab, "s.escape", "something is open")
        tab.key("Escape")
        viewer.wait_for(lambda s: not s.get("settings", {}).get("help", True), "the list closed")
        self.state(tab, "!s.escape", "nothing is open")
        self.assertEqual(tab.value("document.activeElement.id"), "picture")
        tab.key("i")
        self.settle(tab)
        box = viewer.wait_for(lambda s: "view" in s.get("controls", {}), "the list of views")["controls"]["view"]
        tab.click((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        self.state(tab, "s.escape", "a list is open")
        tab.key("Escape")
        self.state(tab, "!s.escape && s.view === 'frame'", "it closed")
        self.assertEqual(tab.value("document.activeElement.id"), "picture")
        tab.key("Escape")
        self.assertNotEqual(tab.value("document.activeElement.id"), "picture")
        self.quiet(tab)

    def test_a_page_whose_files_do_not_come_says_so(self):
        viewer = self.serve(SOURCE, *PLAIN)
        for name, words in (("viewer.js", "script of this page has not loaded"), ("viewer.css", "style of this page has not loaded")):
            with self.subTest(name):
                tab = self.open("about:blank", wait=None)
                tab.call("Network.setBlockedURLs", urls=[f"*/{name}"])
                tab.go(viewer.url)
                tab.wait_for(f"(() => {{ const n = document.getElementById('notice'); return !n.hidden && getComputedStyle(n).visibility === 'visible' && n.textContent.includes('{words}'); }})()", words)

    def test_why_it_ended_stays(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:  # nothing is sent to this port
            other.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{other.getsockname()[1]}"
        viewer = self.serve(f"udp://{address}", "--set", "open-timeout=5")
        tab = self.open(viewer.url, wait=None)
        for tries in (1, 3):
            tab.wait_for(f"document.body.classList.contains('lost') && saccadeViewer.link.tries >= {tries}", f"{tries} tries")
            for place in ("notice", "role"):
                self.assertRegex(tab.value(f"document.getElementById('{place}').textContent"), rf"^The viewer ended: .*{address}.*\. Trying again$")

    def test_the_clock_is_no_live_region(self):
        viewer = self.serve(SOURCE)
        tab = self.open(viewer.url)
        self.state(tab, "s.t > 0.3", "playing")
        self.assertRegex(tab.value("document.getElementById('time').textContent"), r"^\d+:\d\d\.\d / 1:40\.0$")
        self.assertIsNone(tab.value("document.getElementById('time').closest('output, [aria-live], [role=status], [role=timer], [role=log]')"))
        self.quiet(tab)

    def test_its_size_does_not_follow_its_words(self):
        viewer = self.serve(SOURCE, *PLAIN)
        tab = self.open(viewer.url, size=(640, 400))
        self.settle(tab)
        height = lambda: tab.value("document.getElementById('picture').getBoundingClientRect().height")
        before = height()
        tab.value("document.getElementById('numbers').textContent = 'many words '.repeat(50)")
        self.assertEqual(height(), before)
        tab.value("document.getElementById('role').textContent = 'many words '.repeat(50)")
        self.assertEqual(height(), before)

    def test_an_address_can_ask_for_a_view_and_a_time(self):
        viewer = self.serve(SOURCE, *PLAIN)
        tab = self.open(viewer.url + "&view=lod&t=2.0")
        self.state(tab, "s.view === 'lod' && s.t === 2", "as the address says")
        self.assertEqual(tab.value("location.hash"), "#view=lod&t=2.0")
        other = self.open(self.serve(SOURCE, *PLAIN).url + "&view=nope&speed=fast&t=1e99")  # a typing error costs nothing
        self.state(other, "s.view === 'frame' && s.t > 0", "the end of the file")
        self.assertEqual(other.value("saccadeViewer.stats.lost"), 0)
        self.quiet(tab)

    def test_a_reload_and_a_restart_of_the_server_go_on(self):
        viewer = self.serve(SOURCE, *PLAIN)
        tab = self.open(viewer.url)
        tab.reload()
        tab.wait_for("saccadeViewer.stats.role === 'drive' && saccadeViewer.stats.pictures > 0", "driving again")
        self.quiet(tab)
        self.assertEqual(viewer.stop(), 0)
        tab.wait_for("document.body.classList.contains('lost')", "it says that it is lost")
        self.assertIn("Trying again", tab.value("document.getElementById('role').textContent"))
        self.assertIn("grayscale", tab.value("getComputedStyle(document.getElementById('picture')).filter"))
        again = self.serve(SOURCE, *PLAIN, where=f"127.0.0.1:{viewer.port}")
        tab.wait_for("saccadeViewer.stats.role === 'drive' && !document.body.classList.contains('lost')", "driving once more")
        tab.click(*self.place(tab, 0.25, 0.75))
        self.state(tab, "Math.abs(s.gaze[0] - 0.25) < 0.01", "the eye moves")
        self.assertEqual(again.stop(), 0)
        tab.wait_for("document.body.classList.contains('lost')", "lost")
        other = self.serve(SOURCE, *PLAIN, where=f"127.0.0.1:{viewer.port}", token="another-token-than-before")
        tab.wait_for("document.getElementById('ask-token').open", "it asks for the new token")
        tab.value(f"(() => {{ document.getElementById('token').value = '{other.url}'; document.getElementById('use-token').click(); }})()")
        tab.wait_for("saccadeViewer.stats.role === 'drive'", "driving with it")
        told = [text for text in tab.complaints() if "ERR_CONNECTION_REFUSED" not in text]  # the browser's own words while nobody listened
        self.assertEqual(told, [])

    def test_a_wrong_token_and_none_ask_for_one(self):
        viewer = self.serve(SOURCE, *PLAIN)
        for url in (viewer.base + "#" + "0" * 32, viewer.base):
            tab = self.open(url, wait=None)
            tab.wait_for("document.getElementById('ask-token').open", "it asks")
            self.assertEqual(tab.value("saccadeViewer.stats.pictures"), 0)
            self.quiet(tab)
        self.assertFalse([u for u in tab.requests() if TOKEN in u])

    def test_who_watches_can_not_drive_and_two_tabs_take_turns(self):
        viewer = self.serve(SOURCE, *PLAIN)
        first = self.open(viewer.url)
        watcher = self.open(viewer.watch_url, wait="watch")
        second = self.open(viewer.url, wait="watch")
        self.assertEqual(watcher.value("[document.getElementById('take').hidden, document.getElementById('play').disabled]"), [True, True])
        for tab in (watcher, second):
            tab.click(*self.place(tab, 0.25, 0.25))
            tab.key("Tab")
        watcher.value("[saccadeViewer.link.tell('take'), saccadeViewer.link.send('set', 'view lod')]")
        time.sleep(0.3)
        self.assertEqual(first.value("[saccadeViewer.stats.state.view, ...saccadeViewer.stats.state.gaze]"), ["frame", 0.5, 0.5])
        self.assertIn("2 more watch", first.value("document.getElementById('role').textContent"))
        second.value("document.getElementById('take').click()")
        second.wait_for("saccadeViewer.stats.role === 'drive'", "the second drives")
        first.wait_for("saccadeViewer.stats.role === 'watch' && !document.getElementById('take').hidden", "the first may take it back")
        second.click(*self.place(second, 0.75, 0.75))
        self.state(watcher, "Math.abs(s.gaze[0] - 0.75) < 0.01", "all see what the second does")
        self.quiet(first, watcher, second)

    def test_behind_a_path_prefix_and_a_narrow_link(self):
        viewer = self.serve("test://noise?size=640x360&rate=25&frames=2500", "--show", "marks")
        relay = Relay(viewer.port, prefix="/user/me/proxy/7373", bits_per_s=8e6)
        self.addCleanup(relay.close)
        tab = self.open(f"http://127.0.0.1:{relay.port}/user/me/proxy/7373/#{TOKEN}")
        self.state(tab, "s.rung > 0", "a lower quality")
        self.assertIn("Mbit/s", tab.wait_for("document.getElementById('numbers').textContent", "numbers"))
        tab.click(*self.place(tab, 0.25, 0.75))
        self.state(tab, "Math.abs(s.gaze[0] - 0.25) < 0.01", "the eye moves")
        self.quiet(tab)

    def test_downloads_and_copies(self):
        viewer = self.serve(SOURCE, *PLAIN)
        context = self.context()
        self.browser.call("Browser.setDownloadBehavior", behavior="allow", browserContextId=context, downloadPath=str(self.folder))
        tab = self.open(viewer.url, context=context)
        for name, file in (("screenshot", "saccade-00.00.00.000.png"), ("settings", "saccade.toml")):
            tab.value(f"document.getElementById('{name}').click()")
            wait_for((self.folder / file).exists, missing=file)
        self.assertEqual(saccade("dump", SOURCE, "-o", self.folder / "out", "--config", self.folder / "saccade.toml", "--frames", 1).returncode, 0)
        self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], browserContextId=context)
        tab.value("document.getElementById('watch-link').click()")
        tab.wait_for(f"document.getElementById('toast').textContent.includes('Copied') || document.getElementById('copy-text').value === '{viewer.watch_url}'", "the link")
        tab.value("document.getElementById('line').click()")
        tab.wait_for("document.getElementById('toast').textContent.includes('command') || document.getElementById('copy-text').value.startsWith('saccade dump')", "the line")
        self.quiet(tab)

    def test_a_hidden_page_stops_what_is_played(self):
        viewer = self.serve(SOURCE)
        tab = self.open(viewer.url)
        self.state(tab, "s.t > 0.5", "playing")
        tab.value("Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }); document.dispatchEvent(new Event('visibilitychange'))")
        at = until_still(lambda: tab.value("saccadeViewer.stats.seq"))
        self.assertTrue(tab.value("document.title").startswith("waits, hidden - "))
        tab.value("saccadeViewer.link.send('set', 'loop 1')")
        self.state(tab, "s.loop", "a state")
        self.assertTrue(tab.value("document.title").startswith("waits, hidden - "))  # which has the file's name
        tab.value("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        tab.wait_for(f"saccadeViewer.stats.seq > {at} + 3", "it goes on")
        self.assertIn("hidden", tab.value("document.getElementById('toast').textContent"))
        self.assertNotIn("hidden", tab.value("document.title"))
        self.quiet(tab)


class WrittenPage(Browsed):
    """`reconstruct -o FILE.html`, from the disk."""

    def test_a_dump_as_one_page_works_from_the_disk(self):
        dump = self.folder / "dump"
        self.assertEqual(saccade("dump", SOURCE, "-o", dump, "--frames", 100, "--rate", "6").returncode, 0)
        self.assertEqual(saccade("reconstruct", dump, "-o", self.folder / "seen.html").returncode, 0)
        tab = self.open(f"file://{self.folder}/seen.html", wait=None)
        tab.wait_for("document.querySelector('video')?.readyState >= 2", "the film")
        tab.value("document.querySelector('video').play()")
        tab.wait_for("document.querySelector('video').currentTime > 0.3", "it plays")
        self.assertEqual([u for u in tab.requests() if not u.startswith(("file:", "data:", "blob:"))], [])
        self.quiet(tab)


class Notebook(Browsed):
    """`pysaccade.view()` in a page that has the marks of Jupyter's, on this machine."""

    def test_a_cell_holds_the_viewer(self):
        sys.path.insert(0, str(pathlib.Path(os.environ["SACCADE_SOURCE_DIR"]) / "python"))
        os.environ["SACCADE_PROGRAM"] = SACCADE
        import pysaccade
        with pysaccade.view(SOURCE, pause=True) as viewer:
            page = f"<!doctype html><link rel=icon href='data:,'><body data-base-url='/'>{viewer._repr_html_()}".encode()

            class Notebooks(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200 if self.path == "/" else 404)
                    self.send_header("Content-Type", "text/html")
                    self.end_headers()
                    self.wfile.write(page if self.path == "/" else b"")

                def log_message(self, *_):
                    pass

            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notebooks) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                tab = self.open(f"http://127.0.0.1:{server.server_port}/", wait=None)
                source = tab.wait_for("document.querySelector('iframe')?.src", "the frame")
                self.assertEqual(source, viewer.url)
                tab.wait_for("frames.length === 1", "its page")
                shown = lambda: read_png(tab.picture(self.folder / "cell.png")).std() > 10  # not an empty frame
                wait_for(shown, missing="a picture in the cell")
                server.shutdown()


if __name__ == "__main__":
    unittest.main()
