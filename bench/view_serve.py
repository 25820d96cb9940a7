#!/usr/bin/env python3
"""What `saccade view --serve` costs and how soon it answers, as a client without a browser sees it, and as a page does.

    bench/view_serve.py [--saccade build/ci/app/saccade] [--source clip.mp4] [--size 1280x720] [--view-options "--backend cuda"] [--minutes 1]

Needs Python with websockets, and no browser but for --only browser: it runs on a server with a GPU as well. A "click" is a
press and a release; its time is from sending the press until a picture with the release in it has been received. In a browser
it is a click of the mouse; its time is from sending the release until a picture with it in is drawn on the canvas.
"""
import argparse
import os
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
MEASURES = ("answers", "watchers", "narrow", "memory", "browser")


def clicks(client, count, pause_s, size):
    """Times of clicks at changing places, ms; pictures in between are taken and acknowledged."""
    times = []
    dice = random.Random(7)
    for _ in range(count):
        end = time.monotonic() + pause_s * dice.uniform(0.6, 1.4)
        while time.monotonic() < end:
            client.receive(max(end - time.monotonic(), 0.001))
        x, y = dice.uniform(0.4, 0.6) * size[0], dice.uniform(0.4, 0.6) * size[1]
        begin = time.monotonic()
        client.send("press", f"{x:.1f}", f"{y:.1f}", 0)
        number = client.send("release", f"{x:.1f}", f"{y:.1f}", 0)
        while not client.pictures or client.pictures[-1]["applied"] < number:
            client.receive(1)
            if time.monotonic() - begin > 10:
                raise SystemExit("a click was not answered within 10 s")
        times.append((time.monotonic() - begin) * 1e3)
    return times


def spread(times):
    ordered = sorted(times)
    at = lambda share: ordered[min(int(share * len(ordered)), len(ordered) - 1)]
    return f"p50 {statistics.median(ordered):6.1f} ms, p95 {at(0.95):6.1f} ms ({len(ordered)} clicks)"


def rate(client, seconds):
    """(pictures, Mbit) a second."""
    end = time.monotonic() + seconds
    bytes_before, count = client.bytes, 0
    while (left := end - time.monotonic()) > 0:
        data = client.receive(left)
        count += isinstance(data, bytes)
    return count / seconds, (client.bytes - bytes_before) * 8e-6 / seconds


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.size = tuple(int(n) for n in arguments.size.split("x"))

    def serve(self, *more):
        from web_support import ServedViewer
        return ServedViewer(self.arguments.source, "--loop", "--size", self.arguments.size, *self.arguments.view_options.split(), *more)

    def driver(self, port):
        from web_support import WebClient
        return WebClient(port).wait_for(lambda c: c.role.get("role") == "drive" and c.pictures, "driving")

    def answers(self):
        for name, more in (("paused", ("--set", "pause",)), ("playing", ())):
            viewer = self.serve(*more)
            client = self.driver(viewer.port)
            rate(client, 2)
            print(f"{name:8} {spread(clicks(client, self.arguments.clicks, 0.15, self.size))}", flush=True)
            if not more:
                pictures, mbit = rate(client, 5)
                print(f"{'':8} {pictures:.1f} pictures/s, {mbit:.1f} Mbit/s", flush=True)
            client.close()
            viewer.stop()

    def browser(self):
        """Clicks in headless Chromium, which runs on the same cores."""
        from browser import Browser
        chromium = Browser()
        width, height = self.size
        for name, more in (("paused", ("--set", "pause",)), ("playing", ())):
            viewer = self.serve(*more)
            tab = chromium.open(viewer.url, size=(width, height + 40))
            tab.wait_for("saccadeViewer.stats.role === 'drive' && saccadeViewer.stats.pictures > 0", "driving")
            time.sleep(2)
            dice, times = random.Random(7), []
            for _ in range(self.arguments.clicks):
                time.sleep(0.15 * dice.uniform(0.6, 1.4))
                tab.click(dice.uniform(0.4, 0.6) * width, dice.uniform(0.4, 0.6) * height)
                times.append(tab.value("""new Promise(done => {
                    const { link, stats } = saccadeViewer, number = link.number, drawn = link.drawn;
                    if (stats.applied >= number) return done(link.delays.at(-1));
                    link.drawn = applied => { drawn.call(link, applied); if (applied >= number) { link.drawn = drawn; done(link.delays.at(-1)); } };
                    setTimeout(() => done(null), 10000);
                })"""))
            if None in times:
                raise SystemExit("a click was not answered within 10 s")
            print(f"Chromium {name:8} {spread(times)}", flush=True)
            if not more:
                before = tab.value("saccadeViewer.stats.pictures")
                time.sleep(10)
                print(f"{'':17} {(tab.value('saccadeViewer.stats.pictures') - before) / 10:.1f} pictures/s", flush=True)
            tab.close()
            viewer.stop()
        chromium.close()

    def watchers(self):
        """CPU time of the program for ten seconds with one page and with four."""
        import threading
        from web_support import WebClient
        viewer = self.serve()
        client = self.driver(viewer.port)
        costs = {}
        for count in (1, 4, 1, 4):
            ready, stop = threading.Barrier(count), threading.Event()

            def watch():
                guest = WebClient(viewer.port, viewer.watch_token).wait_for(lambda c: c.pictures, "watching")
                ready.wait()
                while not stop.is_set():
                    guest.receive(0.1)
                guest.close()

            threads = [threading.Thread(target=watch) for _ in range(count - 1)]
            for thread in threads:
                thread.start()
            while ready.n_waiting < count - 1:
                client.receive(0.05)
            ready.wait()
            rate(client, 1)
            before = viewer.cpu_s()
            pictures, _ = rate(client, 10)
            costs.setdefault(count, []).append((viewer.cpu_s() - before) / 10 / max(pictures, 1))
            stop.set()
            for thread in threads:
                while thread.is_alive():
                    client.receive(0.02)
        one, four = (statistics.mean(costs[count]) for count in (1, 4))
        print(f"four watch: {four * 1e3:.2f} ms of CPU a picture against {one * 1e3:.2f} for one ({(four / one - 1) * 100:+.1f} %)", flush=True)
        client.close()
        viewer.stop()

    def narrow(self):
        from web_support import Relay
        for mbit in (100, 20, 10, 5):
            for name, more in (("paused", ("--set", "pause",)), ("playing", ())):
                viewer = self.serve(*more)
                relay = Relay(viewer.port, bits_per_s=mbit * 1e6)
                client = self.driver(relay.port)
                if not more:
                    rate(client, 6)  # the ladder finds its step
                else:
                    clicks(client, 20, 0.1, self.size)
                answered = clicks(client, self.arguments.clicks, 0.25, self.size)
                print(f"{mbit:4} Mbit/s {name:8} {spread(answered)}, quality step {client.pictures[-1]['rung'] if not more else client.state.get('rung')}", flush=True)
                client.close()
                relay.close()
                viewer.stop()

    def memory(self):
        """Clients that come, go and stall, for some minutes; the memory of the program each tenth of it."""
        from web_support import WebClient
        viewer = self.serve()
        client = self.driver(viewer.port)
        rate(client, 5)
        seconds = self.arguments.minutes * 60
        dice, begin, seen, guests = random.Random(3), time.monotonic(), [], []
        while (passed := time.monotonic() - begin) < seconds:
            rate(client, 0.5)
            guests.append(WebClient(viewer.port, viewer.watch_token, acks=dice.random() < 0.5, hello=dice.random() < 0.8))
            if len(guests) > 5:
                gone = guests.pop(dice.randrange(len(guests)))
                if dice.random() < 0.5:
                    gone.socket.transport.abort()
                gone.close()
            if len(seen) <= passed / seconds * 10:
                seen.append(viewer.memory_bytes() / 1e6)
        for guest in guests:
            guest.close()
        print("memory, MB: " + " ".join(f"{mb:.0f}" for mb in seen), flush=True)
        client.close()
        viewer.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saccade", default=ROOT / "build" / "ci" / "app" / "saccade")
    parser.add_argument("--source", default=str(ROOT / "assets" / "desktop.mp4"))
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--view-options", default="")
    parser.add_argument("--clicks", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--only", choices=MEASURES, action="append")
    arguments = parser.parse_args()
    os.environ["SACCADE_BIN"] = str(arguments.saccade)
    os.environ.setdefault("SACCADE_SOURCE_DIR", str(ROOT))
    bench = Bench(arguments)
    for name in arguments.only or MEASURES[:-1]:
        getattr(bench, name)()


if __name__ == "__main__":
    main()
