"""How much longer a test waits for a program built with sanitizers before it says that it hangs."""
import os

PATIENCE = {"": 1, "thread": 8}.get(os.environ.get("SACCADE_SANITIZE", ""), 3)
