"""A window on an X screen that a test draws into, by Xlib."""
import ctypes
import ctypes.util

_P, _I, _U, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_ulong


def _xlib():
    x = ctypes.CDLL(ctypes.util.find_library("X11"))
    for name, result, *arguments in (
            ("XOpenDisplay", _P, ctypes.c_char_p), ("XDefaultRootWindow", _L, _P), ("XCreateGC", _P, _P, _L, _L, _P),
            ("XCreateSimpleWindow", _L, _P, _L, _I, _I, _U, _U, _U, _L, _L), ("XMapRaised", _I, _P, _L), ("XSync", _I, _P, _I),
            ("XStoreName", _I, _P, _L, ctypes.c_char_p), ("XSetForeground", _I, _P, _P, _L), ("XDestroyWindow", _I, _P, _L),
            ("XFillRectangle", _I, _P, _L, _P, _I, _I, _U, _U), ("XCreateFontCursor", _L, _P, _U), ("XDefineCursor", _I, _P, _L, _L), ("XMoveResizeWindow", _I, _P, _L, _I, _I, _U, _U), ("XCloseDisplay", _I, _P), ("XForceScreenSaver", _I, _P, _I),
            ("XSetInputFocus", _I, _P, _L, _I, _L), ("XSetWindowBackgroundPixmap", _I, _P, _L, _L), ("XGrabServer", _I, _P), ("XUngrabServer", _I, _P)):
        function = getattr(x, name)
        function.restype, function.argtypes = result, arguments
    return x


class Window:
    """x, y, width, height in pixels of the screen; colours as 0xRRGGBB. Drawn before a call returns."""

    def __init__(self, display, box, title="", color=0):
        self.x = _xlib()
        self.display = self.x.XOpenDisplay(display.encode())
        if not self.display:
            raise AssertionError(f"display {display} can't be opened")
        self.id = self.x.XCreateSimpleWindow(self.display, self.x.XDefaultRootWindow(self.display), *box, 0, 0, color)
        if title:
            self.x.XStoreName(self.display, self.id, title.encode())
        self.x.XMapRaised(self.display, self.id)
        self.pen = self.x.XCreateGC(self.display, self.id, 0, None)
        self._sync()

    def _sync(self):
        self.x.XSync(self.display, 0)

    def fill(self, box, color):
        self.x.XSetForeground(self.display, self.pen, color)
        self.x.XFillRectangle(self.display, self.id, self.pen, *box)
        self._sync()

    def paint_no_background(self):
        """What lay over it stays until the window is drawn, as with most toolkits."""
        self.x.XSetWindowBackgroundPixmap(self.display, self.id, 0)
        self._sync()

    def show_pointer(self, shape=34):
        """Over this window; 34: a cross."""
        self.x.XDefineCursor(self.display, self.id, self.x.XCreateFontCursor(self.display, shape))
        self._sync()

    def move(self, box):
        self.x.XMoveResizeWindow(self.display, self.id, *box)
        self._sync()

    def rename(self, title):
        self.x.XStoreName(self.display, self.id, title.encode())
        self._sync()

    def focus(self):
        """The keyboard's."""
        self.x.XSetInputFocus(self.display, self.id, 1, 0)
        self._sync()

    def blank(self, on):
        """The screen saver of the display."""
        self.x.XForceScreenSaver(self.display, 1 if on else 0)
        self._sync()

    def close(self):
        self.x.XDestroyWindow(self.display, self.id)
        self._sync()
        self.x.XCloseDisplay(self.display)


def fill_at_once(fills):
    """Draws (window, box, colour), one after the other; no other client sees only some of them."""
    first = fills[0][0]
    first.x.XGrabServer(first.display)
    for window, box, color in fills:
        first.x.XSetForeground(first.display, first.pen, color)
        first.x.XFillRectangle(first.display, window.id, first.pen, *box)
    first.x.XUngrabServer(first.display)
    first.x.XSync(first.display, 0)
