"""org.freedesktop.portal.Desktop on a session bus, which answers Start as its argument says: "deny", "close" or "never"; "bare" lacks ScreenCast.
With "share NODE" it shares a node of PipeWire. A line on stdin ends the sessions."""
import os
import socket
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

CAST = "org.freedesktop.portal.ScreenCast"
ANSWERS = {"deny": 1, "close": 2, "share": 0}


class Request(dbus.service.Object):
    @dbus.service.signal("org.freedesktop.portal.Request", signature="ua{sv}")
    def Response(self, code, results):
        pass


class Session(dbus.service.Object):
    @dbus.service.signal("org.freedesktop.portal.Session", signature="a{sv}")
    def Closed(self, details):
        pass


class Portal(dbus.service.Object):
    def __init__(self, bus, what, node):
        super().__init__(bus, "/org/freedesktop/portal/desktop")
        self.bus, self.what, self.node, self.sessions = bus, what, node, []

    def answer(self, sender, options, code=0, **results):
        """By a signal that comes after the method has returned."""
        path = f"/org/freedesktop/portal/desktop/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"
        request = Request(self.bus, path)
        GLib.idle_add(lambda: request.Response(dbus.UInt32(code), dbus.Dictionary(results, signature="sv")))
        return dbus.ObjectPath(path)

    @dbus.service.method("org.freedesktop.DBus.Properties", "ss", "v")
    def Get(self, interface, name):
        if interface != CAST or self.what == "bare":
            raise dbus.exceptions.DBusException(f"No such interface {interface}", name="org.freedesktop.DBus.Error.InvalidArgs")
        return dbus.UInt32({"version": 4, "AvailableSourceTypes": 1, "AvailableCursorModes": 5}[name])

    @dbus.service.method(CAST, "a{sv}", "o", sender_keyword="sender")
    def CreateSession(self, options, sender):
        path = f"/org/freedesktop/portal/desktop/session/{sender[1:].replace('.', '_')}/{options['session_handle_token']}"
        self.sessions.append(Session(self.bus, path))
        return self.answer(sender, options, session_handle=path)

    @dbus.service.method(CAST, "oa{sv}", "o", sender_keyword="sender")
    def SelectSources(self, session, options, sender):
        print("SelectSources", {str(key): str(value) for key, value in sorted(options.items()) if key != "handle_token"}, flush=True)
        return self.answer(sender, options)

    @dbus.service.method(CAST, "osa{sv}", "o", sender_keyword="sender")
    def Start(self, session, parent, options, sender):
        print("Start", flush=True)
        if self.what == "never":
            return dbus.ObjectPath("/org/freedesktop/portal/desktop/request/never")
        streams = dbus.Array([dbus.Struct((dbus.UInt32(self.node), dbus.Dictionary({}, signature="sv")), signature="ua{sv}")], signature="(ua{sv})")
        return self.answer(sender, options, ANSWERS[self.what], streams=streams, restore_token=f"token after {len(self.sessions)}")

    @dbus.service.method(CAST, "oa{sv}", "h")
    def OpenPipeWireRemote(self, session, options):
        remote = socket.socket(socket.AF_UNIX)
        remote.connect(os.environ["XDG_RUNTIME_DIR"] + "/pipewire-0")
        return dbus.types.UnixFd(remote)

    def end(self, *_):
        sys.stdin.readline()
        for session in self.sessions:
            session.Closed({})
        return False


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
session_bus = dbus.SessionBus()
portal = Portal(session_bus, sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
name = dbus.service.BusName("org.freedesktop.portal.Desktop", session_bus)
GLib.io_add_watch(sys.stdin, GLib.IO_IN, portal.end)
print("ready", flush=True)
GLib.MainLoop().run()
