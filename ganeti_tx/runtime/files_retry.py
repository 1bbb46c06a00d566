"""Writes that must come about: repeated with growing pauses until the disk takes them."""

from collections.abc import Awaitable, Callable

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.runtime.files_errors import NotSynced, reason

log = Logger()

#: Seconds between the first two tries; each pause is twice the one before, up to the last.
FIRST_PAUSE = 0.5
LAST_PAUSE = 30.0


async def until_written(
    write: Callable[[], Awaitable[None]], clock: IReactorTime, timeout: float | None = None
) -> None:
    """Try again until it succeeds; a file that is in its place counts as written.

    @param timeout: seconds after which no new try begins; None for as long as it takes.
    @raise OSError: the last error, when the time is over.
    """
    begun, pause, failures = clock.seconds(), FIRST_PAUSE, 0
    while True:
        try:
            await in_place(write())
        except OSError as error:
            failures += 1
            if timeout is not None and clock.seconds() + pause > begun + timeout:
                raise
            if failures == 1:
                log.error("cannot write {reason}; trying again until it succeeds", reason=reason(error))
        else:
            if failures:
                log.info("written at last, after {failures} failures", failures=failures)
            return
        await deferLater(clock, pause)
        pause = min(pause * 2, LAST_PAUSE)


async def in_place(writing: Awaitable[None]) -> None:
    """Take a write for done whose file is in its place, although a power cut might undo it; the log says so."""
    try:
        await writing
    except NotSynced as error:
        log.error("{reason}", reason=reason(error))
