"""What is asked before an instance is exported."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.compression import check_compression
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.backup import OpBackupExport
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import INodeRpc

#: Seconds that the zeroing of free space may take, and more for each MiB, if nobody says otherwise.
ZEROING_FIXED, ZEROING_PER_MIB = 300, 0.05


def check_alone(op: OpBackupExport) -> None:
    """@raise OpPrereqError: contradictory things are asked for."""
    if op.long_sleep and not op.shutdown:
        raise OpPrereqError("The long sleep option only makes sense when the instance can be shut down.", ECode.INVAL)
    if op.zero_free_space and not op.shutdown:
        raise OpPrereqError(
            "zero_free_space only makes sense when the instance is shut down; leave shutdown=false out", ECode.INVAL
        )


def reads_disks_themselves(op: OpBackupExport) -> bool:
    """Whether a running instance is down as long as its disks are read."""
    return op.shutdown and (op.long_sleep or op.remove_instance)


async def check_request(nodes: INodeRpc, op: OpBackupExport, target: InstanceView, *, runs: bool) -> None:
    """@raise OpPrereqError: why it cannot be done."""
    check_compression(op.compress, target.cluster)
    if op.remove_instance and runs and not op.shutdown:
        raise OpPrereqError(
            f"instance {target.instance.name} runs: it can be removed only if it is shut down before", ECode.STATE
        )
    if op.zero_free_space:
        check_zeroing(target)
    if target.disks:
        await check_script(nodes, target, "export")


def check_zeroing(target: InstanceView) -> None:
    """@raise OpPrereqError: there is nothing that would do it."""
    if not target.cluster.zeroing_image:
        raise OpPrereqError("A zeroing image must be set for zeroing to work", ECode.INVAL)


async def check_script(nodes: INodeRpc, target: InstanceView, script: str) -> None:
    """@raise OpPrereqError: the instance has no OS, or the OS no such script on the primary node."""
    if not target.instance.os:
        raise OpPrereqError(
            f"instance {target.instance.name} has no operating system, whose script would {script} it", ECode.STATE
        )
    call = OsValidate(
        required=True, os_name=target.instance.os, checks=[], osparams={}, force_variant=True, scripts=[script]
    )
    await ask(nodes, target.primary, call)


def zeroing_limit(op: OpBackupExport, target: InstanceView) -> float:
    """Seconds that the zeroing may take: some in any case, and more for each MiB of its disks."""
    fixed = ZEROING_FIXED if op.zeroing_timeout_fixed is None else op.zeroing_timeout_fixed
    per_mib = ZEROING_PER_MIB if op.zeroing_timeout_per_mib is None else op.zeroing_timeout_per_mib
    return fixed + per_mib * sum(disk.size for disk in target.disks)
