"""This process kept in RAM, so that it goes on when the disk with its swap space and programs does not (design-2.1)."""

import ctypes
import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: All that is there, and all that comes (mman.h).
MCL_CURRENT, MCL_FUTURE = 1, 2
#: Bytes for each new thread: what is locked is really there, and the system's usual 8 MiB are never used here.
STACK = 1 << 20
#: Raises OSError when the system does not want to.
LockAll = Callable[[], None]


def lock_all() -> None:
    """Have the system keep this process in RAM; programs that it starts are not. @raise OSError: it does not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def lock_memory(lock: LockAll = lock_all, user: int | None = None) -> str:
    """Lock it if this is root's process; why it is not, or an empty text.

    Never in part: a process that is locked and may only have a little is refused more memory in the midst of its work.
    """
    if (os.geteuid() if user is None else user) != 0:
        return "only root's can be"
    try:
        with only_by_right():
            lock()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    threading.stack_size(STACK)
    return ""


@contextmanager
def only_by_right() -> Iterator[None]:
    """Let memory be locked by who may lock as much as it wants (CAP_IPC_LOCK), and by nobody who may lock some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY:
        yield
        return
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))
