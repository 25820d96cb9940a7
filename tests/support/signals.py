"""What a process does with signals, as the kernel tells it."""
import pathlib


def catches(pid, sign):
    """Whether the process has a handler for this signal by now."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    mask = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), 16)
    return mask >> (sign - 1) & 1
