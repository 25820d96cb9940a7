"""Drops a file on a window, as a file manager does: the source's side of the XDND protocol, version 5, over Xlib."""
import ctypes
import os
import pathlib
import time

from patience import PATIENCE

SELECTION_NOTIFY, CLIENT_MESSAGE, SELECTION_REQUEST = 31, 33, 30
PROP_MODE_REPLACE = 0

Window = Atom = ctypes.c_ulong


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("window", Window), ("message_type", Atom), ("format", ctypes.c_int), ("data", ctypes.c_long * 5)]


class SelectionRequest(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("owner", Window), ("requestor", Window), ("selection", Atom), ("target", Atom), ("property", Atom),
                ("time", ctypes.c_ulong)]


class SelectionNotify(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("requestor", Window), ("selection", Atom), ("target", Atom), ("property", Atom), ("time", ctypes.c_ulong)]


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("client", ClientMessage), ("request", SelectionRequest), ("notify", SelectionNotify),
                ("pad", ctypes.c_long * 24)]


def load_xlib():
    """None where there is no Xlib."""
    try:
        x = ctypes.CDLL("libX11.so.6")
    except OSError:
        return None
    display = ctypes.c_void_p
    x.XOpenDisplay.restype = display
    x.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x.XDefaultRootWindow.restype = Window
    x.XDefaultRootWindow.argtypes = [display]
    x.XCreateSimpleWindow.restype = Window
    x.XCreateSimpleWindow.argtypes = [display, Window] + [ctypes.c_int] * 2 + [ctypes.c_uint] * 3 + [ctypes.c_ulong] * 2
    x.XInternAtom.restype = Atom
    x.XInternAtom.argtypes = [display, ctypes.c_char_p, ctypes.c_int]
    x.XSetSelectionOwner.argtypes = [display, Atom, Window, ctypes.c_ulong]
    x.XSendEvent.argtypes = [display, Window, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
    x.XChangeProperty.argtypes = [display, Window, Atom, Atom, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
    x.XPending.argtypes = x.XFlush.argtypes = x.XCloseDisplay.argtypes = [display]
    x.XNextEvent.argtypes = [display, ctypes.c_void_p]
    return x


class Drag:
    """One drag of one file from a window of its own to `target`."""

    def __init__(self, display_name, target, path):
        self.x = load_xlib()
        self.display = self.x.XOpenDisplay(display_name.encode())
        if not self.display:
            raise AssertionError(f"no display {display_name}")
        self.target = int(target)
        self.uris = (pathlib.Path(os.path.abspath(path)).as_uri() + "\r\n").encode()
        root = self.x.XDefaultRootWindow(self.display)
        self.source = self.x.XCreateSimpleWindow(self.display, root, 0, 0, 1, 1, 0, 0, 0)

    def atom(self, name):
        return self.x.XInternAtom(self.display, name.encode(), 0)

    def send(self, message, *data):
        event = Event()
        event.client.type, event.client.window, event.client.format = CLIENT_MESSAGE, self.target, 32
        event.client.message_type = self.atom(message)
        for i, value in enumerate((self.source, *data)):
            event.client.data[i] = value
        self.x.XSendEvent(self.display, self.target, 0, 0, ctypes.byref(event))
        self.x.XFlush(self.display)

    def answer(self, request):
        self.x.XChangeProperty(self.display, request.requestor, request.property, request.target, 8, PROP_MODE_REPLACE,
                               self.uris, len(self.uris))
        event = Event()
        event.notify.type, event.notify.requestor, event.notify.selection = SELECTION_NOTIFY, request.requestor, request.selection
        event.notify.target, event.notify.property, event.notify.time = request.target, request.property, request.time
        self.x.XSendEvent(self.display, request.requestor, 0, 0, ctypes.byref(event))
        self.x.XFlush(self.display)

    def wait_for(self, message, seconds=20):
        """The client message of this name; selection requests are answered meanwhile."""
        end = time.monotonic() + seconds * PATIENCE
        wanted = self.atom(message)
        while time.monotonic() < end:
            if self.x.XPending(self.display) == 0:
                time.sleep(0.005)
                continue
            event = Event()
            self.x.XNextEvent(self.display, ctypes.byref(event))
            if event.type == SELECTION_REQUEST:
                self.answer(event.request)
            elif event.type == CLIENT_MESSAGE and event.client.message_type == wanted:
                return event.client
        raise AssertionError(f"no {message} within {seconds} s")

    def run(self):
        selection, copy = self.atom("XdndSelection"), self.atom("XdndActionCopy")
        self.x.XSetSelectionOwner(self.display, selection, self.source, 0)
        self.send("XdndEnter", 5 << 24, self.atom("text/uri-list"), 0, 0)
        self.send("XdndPosition", 0, 100 << 16 | 100, 0, copy)
        if not self.wait_for("XdndStatus").data[1] & 1:
            raise AssertionError("the window refuses the drop")
        self.send("XdndDrop", 0, 0, 0, 0)
        self.wait_for("XdndFinished")
        self.x.XCloseDisplay(self.display)


def drop(display_name, target, path):
    Drag(display_name, target, path).run()
