"""Many at once at `view --serve`: browsers over a far link, connections that say nothing, and watchers beside who may drive."""
import asyncio
import contextlib
import socket
import threading
import unittest

from browser import Browser
from patience import PATIENCE
from web_support import TOKEN, Relay, ServedViewer, WebClient

SOURCE = "test://box?size=320x180&rate=25&frames=2500"
PLAIN = ("--set", "pause", "--show", "marks", "--size", "320x200")
FAR_S = 0.04
MANY = 64  # connections of one kind that the server keeps
FILES = ("/", "/viewer.css", "/viewer.js")


class Crowded(unittest.TestCase):
    def setUp(self):
        self.viewer = ServedViewer(SOURCE, *PLAIN)
        self.addCleanup(self.viewer.kill)
        self.relay = Relay(self.viewer.port, delay_s=FAR_S)
        self.addCleanup(self.relay.close)

    def connect(self, port=None):
        made = socket.create_connection(("127.0.0.1", port or self.viewer.port), timeout=60 * PATIENCE)
        self.addCleanup(made.close)
        return made

    @staticmethod
    def answer(made):
        """(status, body) of what is read until the other side closes; whole, or an error."""
        got = b""
        while data := made.recv(65536):
            got += data
        head, _, body = got.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        if len(body) != length:
            raise AssertionError(f"{len(body)} of {length} bytes")
        return int(head.split(b" ", 2)[1]), body

    def get(self, path, port=None):
        made = self.connect(port)
        made.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return self.answer(made)

    def join(self, token=TOKEN, port=None, **options):
        client = WebClient(port or self.viewer.port, token, **options)
        self.addCleanup(client.close)
        return client

    def come_as_a_page(self):
        """Loads the page over the far link, then what it would show."""
        for path in FILES:
            status, body = self.get(path, self.relay.port)
            self.assertEqual((status, body != b""), (200, True), path)
        client = self.join(port=self.relay.port)
        client.wait_for(lambda c: c.role and c.pictures, "a picture")
        client.close()

    def together(self, count, act):
        """`act`, on so many threads at once; their errors are this test's."""
        errors = []

        def run():
            try:
                act()
            except BaseException as error:  # the test's thread raises it
                errors.append(error)
        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def end(self):
        self.assertEqual(self.viewer.stop(), 0, "".join(self.viewer.errors))


@contextlib.contextmanager
def idle_connections(port, per_s):
    """Opens so many connections a second, none of which says anything; the last thousand stay open."""
    loop, ended = asyncio.new_event_loop(), threading.Event()

    async def flood():
        opened = []
        while not ended.is_set():
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.append(writer)
            if len(opened) > 1000:
                opened.pop(0).close()
            await asyncio.sleep(1 / per_s)
        for writer in opened:
            writer.close()
    thread = threading.Thread(target=lambda: loop.run_until_complete(flood()))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        loop.close()


class Crowds(Crowded):
    def test_eight_browsers_over_a_far_link_all_get_in(self):
        browser = Browser()
        self.addCleanup(browser.close)
        tabs = [browser.open(size=(400, 300), context=browser.call("Target.createBrowserContext")["browserContextId"]) for _ in range(8)]
        for tab in tabs:
            tab.call("Page.navigate", url=f"http://127.0.0.1:{self.relay.port}/#{TOKEN}")
        for tab in tabs:
            tab.wait_for("saccadeViewer.stats.pictures > 0", "a picture", seconds=120)
        self.assertEqual(sorted(tab.value("saccadeViewer.stats.role") for tab in tabs), ["drive"] + 7 * ["watch"])
        for tab in tabs:
            asked = [url.partition("#")[0] for url in tab.requests() if url.startswith("http")]
            self.assertEqual(sorted(url.rpartition("/")[2] for url in asked), ["", "viewer.css", "viewer.js"])
            self.assertEqual(tab.complaints(), [])
        self.end()

    def test_who_says_nothing_150_times_a_second_keeps_nobody_out(self):
        with idle_connections(self.viewer.port, 150):
            for _ in range(3):
                self.together(8, self.come_as_a_page)
        self.end()


class Strangers(Crowded):
    def test_one_that_comes_first_is_not_pushed_out_by_those_that_are_few(self):
        first = self.connect()
        others = [self.connect() for _ in range(MANY - 1)]
        first.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(self.answer(first)[0], 200)
        self.assertEqual(len(others), MANY - 1)
        self.end()

    def test_of_those_that_say_nothing_the_oldest_goes(self):
        silent = [self.connect() for _ in range(MANY + 1)]
        self.assertEqual(silent[0].recv(1), b"")
        for made in silent[1:]:
            made.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        for made in silent[1:]:
            self.assertEqual(self.answer(made)[0], 200)
        self.end()

    def test_those_that_say_half_keep_out_neither_each_other_nor_a_page(self):
        halves = []
        for _ in range(2 * MANY):
            halves.append(self.connect())
            halves[-1].sendall(b"GET / HTTP/1.1\r\nHo")
        self.together(3, self.come_as_a_page)
        self.assertEqual(halves[0].recv(1), b"")
        for made in halves[-MANY // 2:]:
            made.sendall(b"st: x\r\n\r\n")
            self.assertEqual(self.answer(made)[0], 200)
        self.end()

    def test_whole_requests_are_not_counted(self):
        asked = []
        for _ in range(3 * MANY):
            asked.append(self.connect())
            asked[-1].sendall(b"GET /viewer.js HTTP/1.1\r\nHost: x\r\n\r\n")
        for made in asked:
            self.assertEqual(self.answer(made)[0], 200)
        self.end()


class Places(Crowded):
    def test_watchers_leave_a_place_to_who_may_drive(self):
        watchers = [self.join(self.viewer.watch_token).wait_for(lambda c: c.role, "in") for _ in range(7)]
        self.assertEqual(self.join(self.viewer.watch_token).wait_closed(), 4403)
        driver = self.join().wait_for(lambda c: c.role and c.pictures, "in")
        self.assertEqual((driver.role["role"], driver.role["clients"]), ("drive", 8))
        self.assertEqual(self.join().wait_closed(), 4403)
        driver.close()
        watchers[0].wait_for(lambda c: c.role["clients"] == 7, "the driver went")
        self.assertEqual(self.join(self.viewer.watch_token).wait_closed(), 4403)
        self.join().wait_for(lambda c: c.role.get("role") == "drive", "driving")
        self.end()


if __name__ == "__main__":
    unittest.main()
