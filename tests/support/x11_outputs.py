"""The size of an X screen and its one output, changed by RandR, as when a monitor is unplugged."""
import ctypes
import ctypes.util

_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong


class _Resources(ctypes.Structure):
    _fields_ = (("time", _L), ("config_time", _L), ("crtc_count", _I), ("crtcs", ctypes.POINTER(_L)), ("output_count", _I),
                ("outputs", ctypes.POINTER(_L)), ("mode_count", _I), ("modes", ctypes.POINTER(_L)))


class Outputs:
    """Of Xvfb: one output with one mode, which is as large as the screen may be."""

    def __init__(self, display):
        self.x = ctypes.CDLL(ctypes.util.find_library("X11"))
        self.randr = ctypes.CDLL(ctypes.util.find_library("Xrandr"))
        self.x.XOpenDisplay.restype, self.x.XDefaultRootWindow.restype = _P, _L
        self.randr.XRRGetScreenResources.restype = ctypes.POINTER(_Resources)
        self.display = _P(self.x.XOpenDisplay(display.encode()))
        self.root = _L(self.x.XDefaultRootWindow(self.display))

    def _set(self, mode, outputs):
        resources = self.randr.XRRGetScreenResources(self.display, self.root)
        these = (_L * 1)(resources.contents.outputs[0])
        crtc = _L(resources.contents.crtcs[0])
        status = self.randr.XRRSetCrtcConfig(self.display, resources, crtc, _L(0), 0, 0, _L(mode(resources.contents)), 1, these, outputs)
        self.x.XSync(self.display, 0)
        if status != 0:
            raise AssertionError(f"RandR's status is {status}")

    def unplug(self):
        self._set(lambda _: 0, 0)

    def plug(self):
        self._set(lambda resources: resources.modes[0], 1)

    def resize(self, width, height):
        """At most to the size at the beginning; smaller only while nothing is plugged."""
        self.randr.XRRSetScreenSize(self.display, self.root, width, height, width // 4, height // 4)
        self.x.XSync(self.display, 0)

    def close(self):
        self.x.XCloseDisplay(self.display)
