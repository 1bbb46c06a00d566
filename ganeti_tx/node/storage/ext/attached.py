"""Which volumes are attached to this node, and as what; it is as long-lived as that: until the machine is started anew."""

from pathlib import Path

import msgspec
from attrs import frozen
from msgspec.structs import replace
from twisted.logger import Logger

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.ext.volume import Volume
from ganeti_tx.node.storage.own_directory import check_own
from ganeti_tx.runtime.boot_id import boot_id
from ganeti_tx.runtime.files import IFiles

log = Logger()

MAX_RECORD = 1 << 16
DIRECTORY_MODE = 0o755


class Attached(msgspec.Struct, frozen=True):
    """What `attach` said: a device's path, empty if there is none, and what hypervisors open instead, by their names.

    `opened`: the provider was told that an instance here will write to it. `boot`: of the machine, when it was attached.
    `size`: of the device in MiB when it was attached, if there was one.
    """

    path: str
    uris: dict[str, str] = {}
    opened: bool = False
    boot: str = ""
    size: int | None = None


@frozen
class AttachedVolumes:
    """One small file for each, as scripts tell only when they attach what they attach it as."""

    files: IFiles
    directory: Path

    def get(self, volume: Volume) -> Attached | None:
        """None when it is not attached, or was so before the machine was started anew.

        @raise BlockDeviceError: that cannot be read, or others could have written it.
        """
        check_own(self.files, self.directory)
        try:
            found = msgspec.json.decode(self.files.read(self.directory / volume.key, MAX_RECORD), type=Attached)
            return found if found.boot == boot_id(self.files) else None
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise BlockDeviceError(f"{volume.label}: cannot read {self.directory / volume.key}: {error}")

    async def put(self, volume: Volume, attached: Attached) -> None:
        """It is attached. @raise BlockDeviceError: that cannot be kept."""
        try:
            self.files.mkdir(self.directory, DIRECTORY_MODE)
            check_own(self.files, self.directory)
            kept = msgspec.json.encode(replace(attached, boot=boot_id(self.files)))
            await self.files.write_atomic(self.directory / volume.key, kept, sync=False)
        except OSError as error:
            raise BlockDeviceError(f"{volume.label}: cannot write {self.directory / volume.key}: {error.strerror}")

    def forget(self, volume: Volume) -> None:
        """It is so no longer. @raise BlockDeviceError: that cannot be kept."""
        check_own(self.files, self.directory)
        try:
            self.files.remove(self.directory / volume.key)
        except FileNotFoundError:
            return
        except OSError as error:
            raise BlockDeviceError(f"{volume.label}: cannot remove {self.directory / volume.key}: {error.strerror}")


def parse(said: str, volume: Volume) -> Attached:
    """What `attach` printed: a path or nothing on its first line, then HYPERVISOR:URI a line, in any case of letters.

    Scripts also print other lines, which say nothing of the volume.
    @raise BlockDeviceError: it names nothing, or no path.
    """
    first, *rest = [line.strip() for line in said.split("\n")]
    pairs = [line.partition(":") for line in rest if ":" in line]
    if ignored := [line for line in rest if line and ":" not in line]:
        log.info("{disk}: attach printed {line}, which is left out", disk=volume.label, line=repr(ignored[0][:100]))
    if first and not first.startswith("/"):
        raise BlockDeviceError(f"{volume.label}: attach printed {first[:100]!r}, which is no path of a device")
    if not first and not pairs:
        raise BlockDeviceError(f"{volume.label}: attach printed neither the path of a device nor HYPERVISOR:URI")
    return Attached(first, {hypervisor.strip().lower(): uri.strip() for hypervisor, _, uri in pairs})
