"""A small file that is read again when it changes."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.model.line_file import LineError
from ganeti_tx.runtime.files import IFiles

T = TypeVar("T")
log = Logger()

#: Bytes; some ten thousand users.
MAX_FILE_SIZE = 1024 * 1024


@define
class WatchedFile(Generic[T]):
    """The newest content that could be read.

    A file with an error in it leaves what was, and the error is logged; without a file, or with an empty one, there is nothing.
    """

    files: IFiles
    path: Path
    parse: Callable[[bytes], T]
    empty: T
    #: Hears of each new content.
    changed: Callable[[T], None] = lambda _content: None
    content: T = field(init=False)
    #: Which file it was read from, if there was one.
    _inode: int | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.content = self.empty

    def look(self) -> None:
        """Read it if another was put in its place, of which nobody may have told yet. One that is written in place may be half
        written, and is read when that has ended.
        """
        if self._found() != self._inode:
            self.read()

    def _found(self) -> int | None:
        try:
            return self.files.stat(self.path).inode
        except OSError:
            return None

    def read(self) -> None:
        """Read it now."""
        self._inode = self._found()
        try:
            data = self.files.read(self.path, MAX_FILE_SIZE)
            self.content = self.parse(data) if data.strip() else self.empty
        except FileNotFoundError:
            self.content = self.empty
        except LineError as error:
            log.error("{path}: {error}; what was read before still counts", path=str(self.path), error=str(error))
            return
        except OSError as error:
            reason = errno.errorcode.get(error.errno or 0, "") if error.strerror is None else error.strerror
            log.error("cannot read {path}: {reason}; what was read before still counts",
                      path=str(self.path), reason=reason)  # fmt: skip
            return
        self.changed(self.content)
