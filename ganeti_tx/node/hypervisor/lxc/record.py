"""What a node remembers of its containers, so that a restarted daemon knows what to clean up."""

from collections.abc import Mapping, Sequence

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.runtime.files import IFiles

LIMIT = 1 << 18
MODE = 0o600


class VethState(msgspec.Struct, frozen=True, kw_only=True):
    """One network interface: a pair, of which `outside` stays on the node and `inside` goes into the container.

    @ivar environment: what scripts were told of it (none: it was connected by an older version).
    """

    uuid: str
    mac: str
    mode: str
    link: str
    vlan: str = ""
    outside: str
    inside: str
    environment: Mapping[str, str] = {}


class ContainerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone; memory in MiB."""

    memory: int
    vcpus: int
    veths: Sequence[VethState] = ()


async def save(files: IFiles, layout: ContainerLayout, record: ContainerRecord) -> None:
    """@raise HypervisorError: the disk does not take it."""
    try:
        await files.write_atomic(layout.record, msgspec.json.encode(record), MODE)
    except OSError as error:
        raise HypervisorError(f"cannot write {layout.record}: {error.strerror or error}")


def load(files: IFiles, layout: ContainerLayout) -> ContainerRecord | None:
    """None when nothing is remembered. @raise HypervisorError: it cannot be read, or somebody else could have written it."""
    layout.check_own(files)
    try:
        return msgspec.json.decode(files.read(layout.record, LIMIT), type=ContainerRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise HypervisorError(f"cannot read {layout.record}: {error}")
