"""What is remembered of each directory that a volume is mounted in: whether by us, and for which disks."""

from pathlib import Path
from urllib.parse import quote

import msgspec
from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.own_directory import check_own
from ganeti_tx.runtime.boot_id import boot_id
from ganeti_tx.runtime.files import IFiles

MAX_RECORD = 1 << 20
DIRECTORY_MODE = 0o755


class MountRecord(msgspec.Struct, frozen=True):
    """Of one directory. `ready`: the uuids of the disks that are assembled. `boot`: of the machine, when that was so."""

    directory: str = ""
    ours: bool = False
    ready: tuple[str, ...] = ()
    boot: str = ""


@frozen
class MountRecords:
    """A small file for each, as long-lived as mounts are: until the machine is started anew."""

    files: IFiles
    place: Path

    def of(self, directory: Path) -> MountRecord:
        """@raise BlockDeviceError: it cannot be read."""
        return self._read(self._path(directory)) or MountRecord(str(directory))

    def all(self) -> list[MountRecord]:
        """Of all directories. @raise BlockDeviceError: one cannot be read."""
        check_own(self.files, self.place)
        names = sorted(self.files.listdir(self.place)) if self.files.exists(self.place) else []
        return [record for name in names if (record := self._read(self.place / name)) is not None]

    async def put(self, record: MountRecord) -> None:
        """Keep it; one that says nothing goes. @raise BlockDeviceError: that cannot be."""
        path = self._path(Path(record.directory))
        try:
            if record.ours or record.ready:
                self.files.mkdir(self.place, DIRECTORY_MODE)
                check_own(self.files, self.place)
                kept = msgspec.json.encode(replace(record, boot=boot_id(self.files)))
                await self.files.write_atomic(path, kept, sync=False)
            elif self.files.exists(path):
                self.files.remove(path)
        except OSError as error:
            raise BlockDeviceError(f"cannot write {path}: {error.strerror}")

    def _path(self, directory: Path) -> Path:
        return self.place / quote(str(directory), safe="")

    def _read(self, path: Path) -> MountRecord | None:
        check_own(self.files, self.place)
        try:
            found = msgspec.json.decode(self.files.read(path, MAX_RECORD), type=MountRecord)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise BlockDeviceError(f"cannot read {path}: {error}")
        return found if found.boot == boot_id(self.files) else None
