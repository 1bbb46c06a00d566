"""Keeping one of root's rights over the change to another user (capabilities(7))."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

NET_BIND_SERVICE = 10
_KEEP = 8  # PR_SET_KEEPCAPS
_VERSION = 0x20080522  # of 64 bits, in two halves


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Half(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


@contextmanager
def keeping(capability: int | None) -> Iterator[None]:
    """What is done within takes all rights of root away but this one; None keeps none. Programs run later have none.

    @raise OSError: the system refuses.
    """
    if capability is None:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    _call(libc.prctl(_KEEP, 1, 0, 0, 0))
    yield
    _call(libc.prctl(_KEEP, 0, 0, 0, 0))
    bit = 1 << capability
    halves = (_Half * 2)(_Half(bit, bit, 0), _Half(0, 0, 0))
    _call(libc.capset(ctypes.byref(_Header(_VERSION, 0)), halves))


def _call(status: int) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
