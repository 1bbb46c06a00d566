"""A file that is read again when it has changed, and told of once when it cannot be."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from attrs import define, field

from ganeti_tx.errors import ConfigurationError, GanetiError
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_errors import words

T = TypeVar("T")


class Gone(ConfigurationError):
    """The file is not there."""


@define
class WatchedFile(Generic[T]):
    """One file; `make` turns its bytes into what they mean, or raises GanetiError."""

    files: IFiles
    path: Path
    limit: int
    make: Callable[[bytes], T]
    _stat: FileStat | None = field(default=None, init=False)
    _told: str = field(default="", init=False)

    def newer(self) -> T | None:
        """What it holds, if that is new since the last time. Blocks.

        @raise Gone: it is not there. @raise ConfigurationError: it cannot be read. Both once, until it changes.
        """
        try:
            stat = self.files.stat(self.path)
            if stat == self._stat:
                return None
            data = self.files.read(self.path, self.limit)
        except FileNotFoundError:
            return self._failed(Gone(f"no {self.path}"))
        except OSError as error:  # perhaps for want of open files: the next time it may be readable again
            return self._failed(ConfigurationError(f"cannot read {self.path}: {words(error, self.path)}"))
        self._stat, self._told = stat, ""
        try:
            return self.make(data)
        except GanetiError as error:
            raise ConfigurationError(f"cannot read {self.path}: {error}") from None

    def _failed(self, error: ConfigurationError) -> T | None:
        self._stat = None
        if self._told == str(error):
            return None
        self._told = str(error)
        raise error
