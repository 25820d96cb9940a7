"""How much longer a test waits for a program built with sanitizers before it says that it hangs, and how it waits."""
import os
import time

PATIENCE = {"": 1, "thread": 8}.get(os.environ.get("SACCADE_SANITIZE", ""), 3)


def wait_for(what, seconds=60, missing="it never came"):
    """Waits until what() is true, and returns it. Fails when it never was; missing: the message, or what makes it."""
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(missing() if callable(missing) else missing)
