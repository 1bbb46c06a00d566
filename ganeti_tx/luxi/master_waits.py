"""What a master daemon that does not listen waits for: it has left that in a file (`election.role`)."""

import os

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder

#: Of the file so much is read: one line, which has no more.
LIMIT = 4096


def what_is_waited_for(socket_path: str) -> str | None:
    """What ends a line that says that a master's socket takes nobody; None when its daemons have left nothing."""
    paths = Paths.from_environment(os.environ)
    if socket_path not in (str(paths.master_socket), str(paths.query_socket)):
        return None
    told = _read(paths)
    if told is None:
        return None
    runs = any(_is_held(paths, daemon) for daemon in ("ganeti-wconfd", "ganeti-luxid"))
    return f"it {'waits to be the master' if runs else 'has ended, since it could not be the master'}: {told}"


def _read(paths: Paths) -> str | None:
    """The line; None when there is none that we may read."""
    try:
        descriptor = os.open(paths.master_waits_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, LIMIT).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return "".join(each if each.isprintable() else " " for each in text).strip() or None


def _is_held(paths: Paths, daemon: str) -> bool:
    """Whether one of them runs."""
    try:
        return holder(paths.pid_file(daemon)) is not None
    except OSError:
        return False
