"""Opening a file that is made if need be, in a directory that several users write to.

A kernel that protects such directories (``fs.protected_regular`` is 2 on Debian) lets nobody, root included, open with O_CREAT a
file there that is another user's, so O_CREAT is used only for one that is to be made.
"""

import os
from contextlib import suppress
from pathlib import Path


def open_or_make(path: Path | str, flags: int, mode: int) -> int:
    """The descriptor. @param flags: without O_CREAT and O_EXCL. @raise OSError: it can be neither opened nor made."""
    while True:
        with suppress(FileNotFoundError):
            return os.open(path, flags)
        with suppress(FileExistsError):  # somebody was quicker
            return os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
