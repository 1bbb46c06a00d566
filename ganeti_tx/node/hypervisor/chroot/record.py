"""What a node remembers of an instance in a chroot, so that a restarted daemon can stop it."""

from collections.abc import Mapping

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout
from ganeti_tx.node.hypervisor.nics.script_environment import script_environment
from ganeti_tx.runtime.files import IFiles

LIMIT = 1 << 18
MODE = 0o600


class ChrootRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone; memory in MiB.

    @ivar environment: what its script is told of it.
    """

    memory: int
    vcpus: int
    init_script: str
    environment: Mapping[str, str]


def record_of(spec: InstanceSpec, init_script: str) -> ChrootRecord:
    """What is to be remembered of an instance that starts."""
    return ChrootRecord(
        memory=int(spec.beparams["maxmem"]),
        vcpus=int(spec.beparams["vcpus"]),
        init_script=init_script,
        environment=environment_of(spec),
    )


def environment_of(spec: InstanceSpec) -> dict[str, str]:
    """An instance has the node's network, so its script is told which addresses are the instance's (as interface scripts are)."""
    told = {"INSTANCE_NAME": spec.name, "HYPERVISOR": spec.hypervisor, "NIC_COUNT": str(len(spec.nics))}
    for number, nic in enumerate(spec.nics):
        about = script_environment(spec, nic, number, "")
        told |= {
            f"NIC_{number}_{name}": value for name, value in about.items() if name not in ("INSTANCE", "INTERFACE")
        }
    return told


async def save(files: IFiles, layout: ChrootLayout, record: ChrootRecord) -> None:
    """@raise HypervisorError: the disk does not take it."""
    try:
        await files.write_atomic(layout.record, msgspec.json.encode(record), MODE)
    except OSError as error:
        raise HypervisorError(f"cannot write {layout.record}: {error.strerror or error}")


def load(files: IFiles, layout: ChrootLayout) -> ChrootRecord | None:
    """None when nothing is remembered. @raise HypervisorError: it cannot be read, or somebody else could have written it."""
    layout.check_own(files)
    try:
        return msgspec.json.decode(files.read(layout.record, LIMIT), type=ChrootRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise HypervisorError(f"cannot read {layout.record}: {error}")
