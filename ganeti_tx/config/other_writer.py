"""Noticing that somebody else has written config.data, so that nothing newer is ever overwritten."""

import msgspec
from attrs import define, field

from ganeti_tx.model.config_data import MAX_CONFIG_BYTES
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths


class _Head(msgspec.Struct, frozen=True):
    """As much of a configuration as tells which of two is newer."""

    serial_no: int


@define
class OtherWriter:
    """Looks at the file before each write: a new master may have sent its configuration, or an operator put one there."""

    _files: IFiles
    _paths: Paths
    _mine: FileStat | None = field(default=None, init=False)

    def remember(self) -> None:
        """What is there now was written, or read, by us."""
        self._mine = self._stat()

    def newer_than(self, serial: int) -> int | None:
        """The serial number that somebody else has written, when it is not below the one that we are about to write."""
        if self._stat() == self._mine:
            return None
        try:
            data = self._files.read(self._paths.config_file, MAX_CONFIG_BYTES)
            found = msgspec.json.decode(data, type=_Head).serial_no
        except (OSError, msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
            return None  # gone or damaged: writing makes it good
        return found if found >= serial else None

    def _stat(self) -> FileStat | None:
        try:
            return self._files.stat(self._paths.config_file)
        except OSError:
            return None
