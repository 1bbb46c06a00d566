"""What a node remembers of an instance in a chroot, so that a restarted daemon can stop it."""

from collections.abc import Mapping

import msgspec

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.nics.script_environment import script_environment


class ChrootRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone; memory in MiB.

    @ivar environment: what its script is told of it.
    @ivar uuid: the instance's ('': by an older version).
    """

    memory: int
    vcpus: int
    init_script: str
    environment: Mapping[str, str]
    uuid: str = ""


def record_of(spec: InstanceSpec, init_script: str) -> ChrootRecord:
    """What is to be remembered of an instance that starts."""
    return ChrootRecord(
        memory=int(spec.beparams["maxmem"]),
        vcpus=int(spec.beparams["vcpus"]),
        init_script=init_script,
        environment=environment_of(spec),
        uuid=spec.uuid,
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
