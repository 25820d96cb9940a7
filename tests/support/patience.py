"""How much longer a test waits for a program built with sanitizers before it says that it hangs, and how it waits."""
import os
import time

PATIENCE = {"": 1, "thread": 8}.get(os.environ.get("SACCADE_SANITIZE", ""), 3)


def until_still(value, still_s=0.7, seconds=60):
    """Waits until value() has stayed the same for `still_s`, and returns it. Fails when it never does."""
    end = time.monotonic() + seconds * PATIENCE
    before = value()
    while time.monotonic() < end:
        time.sleep(still_s)
        now = value()
        if now == before:
            return now
        before = now
    raise AssertionError(f"it does not stand still: {before}")


def until_idle(cpu_s, most_s, seconds=60):
    """Waits for two seconds in which the program used at most `most_s` of a processor; what came before them is still worked on."""
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        before = cpu_s()
        time.sleep(2)
        used = cpu_s() - before
        if used <= most_s:
            return
    raise AssertionError(f"it uses {used:.2f} s of 2 s")


def wait_for(what, seconds=60, missing="it never came"):
    """Waits until what() is true, and returns it. Fails when it never was; missing: the message, or what makes it."""
    end = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(missing() if callable(missing) else missing)
