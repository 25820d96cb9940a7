"""`Gate`: when a message may be sent, and of how many tokens. Pure: the caller has the clocks."""

from __future__ import annotations

_AGAIN_S = (0.25, 0.5, 0.75)  # the last one from then on: a server that is back gets what is waiting within a second


class Gate:
    """A bucket of tokens, the requests in flight, and the pause after a failure.

    Times of the bucket are the source's; those of pauses are real ones.

    The bucket gains `rate` tokens a second and holds one second's, or one message's where that is more. It begins full.
    A message is planned once the bucket holds half of the largest one, with less text would be cut to pieces, and once
    it holds the smallest picture.
    """

    def __init__(self, rate: float, message: int, in_flight: int, picture: int = 1) -> None:
        """Begin with a full bucket.

        Args:
            rate: Tokens a second.
            message: The most tokens of one.
            in_flight: The most requests at a time.
            picture: The fewest tokens of one; at most `message`.
        """
        self._rate, self._message, self._slots = rate, message, in_flight
        self._least = max(picture, (message + 1) // 2)
        self._most = self._held = max(rate, float(message))
        self._filled_at: float | None = None
        self._pause_until = 0.0
        self._failures = 0

    def allowance(self, now: float) -> int:
        """Tokens that the bucket lets be sent now; 0: none."""
        self._fill(now)
        allowed = min(int(self._held), self._message)
        return allowed if allowed >= self._least else 0

    @property
    def is_full(self) -> bool:
        """Whether as many requests as may be are in flight."""
        return self._slots == 0

    def pause(self, now: float) -> float:
        """Seconds from now on in which nothing may be sent, because a request failed."""
        return max(self._pause_until - now, 0.0)

    def shortage(self, now: float) -> float:
        """Seconds until the bucket holds enough for a message."""
        self._fill(now)
        return max((self._least + 1 - self._held) / self._rate, 0.0)

    def send(self, tokens: int) -> None:
        """Take a request's tokens and its place."""
        self._held -= tokens
        self._slots -= 1

    def succeed(self) -> None:
        """Give the place of a request back: it was answered."""
        self._slots += 1
        self._failures = 0

    def fail(self, now: float, *, refund: int, retry_after: float | None) -> None:
        """Give the place of a request back: it failed.

        Args:
            now: The time.
            refund: Tokens of it that no model counted.
            retry_after: Seconds that the server asks to wait.
        """
        self._slots += 1
        self._held = min(self._held + refund, self._most)
        wait = max(_AGAIN_S[min(self._failures, len(_AGAIN_S) - 1)], retry_after or 0.0)
        self._failures += 1
        self._pause_until = max(self._pause_until, now + wait)

    def _fill(self, now: float) -> None:
        if self._filled_at is not None:
            self._held = min(self._held + max(now - self._filled_at, 0.0) * self._rate, self._most)
        self._filled_at = now
