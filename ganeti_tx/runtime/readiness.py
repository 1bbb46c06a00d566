"""How a daemon in the background tells the command that started it that it is up, or why it is not."""

import os
import select
import time
from collections.abc import Callable, MutableMapping

#: Names the descriptor of a pipe on which the starter listens.
VARIABLE = "GANETI_READY_FD"
#: What a daemon tells that is up; one that is not tells its exit status and why, such as "11 fatal: not the master".
READY = "ready"
MAX_SAID = 4096


def starter(environ: MutableMapping[str, str]) -> Callable[[str], None]:
    """Takes one text to who started this process; "" is said by all who end without a word. Nobody listens: no harm."""
    descriptor = int(environ.pop(VARIABLE, "-1"))

    def tell(text: str) -> None:
        nonlocal descriptor
        if descriptor < 0:
            return
        told, descriptor = descriptor, -1
        try:
            os.write(told, text.encode()[:MAX_SAID])
        except BrokenPipeError:
            return  # it has stopped waiting
        finally:
            os.close(told)

    return tell


def heard(descriptor: int, limit: float) -> str | None:
    """What a daemon tells within `limit` seconds, "" if it ended without a word; None when the time is over."""
    said = b""
    deadline = time.monotonic() + limit
    while True:
        readable, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            return None
        data = os.read(descriptor, MAX_SAID)
        if not data:
            return said.decode("utf-8", "replace")
        said += data
