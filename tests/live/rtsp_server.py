"""An RTSP server of GStreamer's on loopback: `rtsp_server.py PORT CLIP.h264 FPS [OPTION...]` serves rtsp://127.0.0.1:PORT/live.

Plays the pictures of an H.264 byte stream with access unit delimiters, paced by the clock, over and over (or once), for
all clients alike, from the first one on. Prints "ready" when it listens. The times in its RTCP reports are those at
which a picture was handed to the server. --once: the stream ends with the clip. --pause N: stands still for 2 s before picture
N, and the pictures' times don't know of it. --drift PERMILLE: the times run so much faster than the clock. --drop N: the
packets of each Nth picture never leave.
"""
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

DELIMITER = b"\x00\x00\x00\x01\x09"


class Player(threading.Thread):
    """Pushes the pictures into one appsrc until its media is gone."""

    def __init__(self, source, pictures, rate, once, pause, drift):
        super().__init__(daemon=True)
        self.source, self.pictures, self.rate, self.once = source, pictures, rate, once
        self.pause, self.drift = pause, drift
        self.stopped = threading.Event()

    def run(self):
        # Before its pipeline runs, a source stamps by the clock's own zero: hours ahead, and no later picture gets past.
        while self.source.get_base_time() == 0:
            if self.stopped.wait(0.005):
                return
        begin, number = time.monotonic(), 0
        began_ns = self.source.get_clock().get_time() - self.source.get_base_time()
        while not self.stopped.wait(max(begin + number / self.rate - time.monotonic(), 0)):
            late = time.monotonic() - begin - number / self.rate
            begin += late if late > 0.5 else 0  # no burst after the process was held up
            if self.once and number == len(self.pictures):
                self.source.emit("end-of-stream")
                return
            picture = Gst.Buffer.new_wrapped(self.pictures[number % len(self.pictures)])
            if number == self.pause:
                time.sleep(2)
                begin += 2
            if self.pause or self.drift:
                picture.pts = picture.dts = began_ns + int(number / self.rate * 1e9 * (1 + self.drift / 1000))
            if self.source.emit("push-buffer", picture) != Gst.FlowReturn.OK:
                return
            number += 1


def report_capture_time(media):
    elements = media.get_element().get_parent().iterate_elements()
    while True:
        result, element = elements.next()
        if result != Gst.IteratorResult.OK:
            return
        if element.get_factory().get_name() == "rtpbin":
            element.set_property("rtcp-sync-send-time", False)


def number_after(option):
    return int(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else 0


def drop_each(nth, pad):
    """A list of packets is a picture."""
    count = 0

    def probe(_pad, _info):
        nonlocal count
        count += 1
        return Gst.PadProbeReturn.DROP if count % nth == 0 else Gst.PadProbeReturn.OK

    pad.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST, probe)


def main():
    port, clip, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
    pause, drift, drop = number_after("--pause"), number_after("--drift"), number_after("--drop")
    stamps = "false" if pause or drift else "true"
    with open(clip, "rb") as file:
        pictures = [DELIMITER + rest for rest in file.read().split(DELIMITER)[1:]]
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        f"( appsrc name=source is-live=true do-timestamp={stamps} format=time caps=video/x-h264,stream-format=byte-stream,alignment=au"
        " ! rtph264pay name=pay0 pt=96 config-interval=1 )")
    factory.set_shared(True)

    def configure(_factory, media):
        player = Player(media.get_element().get_by_name("source"), pictures, rate, "--once" in sys.argv, pause, drift)
        if drop:
            drop_each(drop, media.get_element().get_by_name("pay0").get_static_pad("src"))
        media.connect("prepared", report_capture_time)
        media.connect("unprepared", lambda _media: player.stopped.set())
        player.start()

    factory.connect("media-configure", configure)
    server.get_mount_points().add_factory("/live", factory)
    if server.attach(None) == 0:
        sys.exit(f"port {port} can't be bound")
    print("ready", flush=True)
    GLib.MainLoop().run()


main()
