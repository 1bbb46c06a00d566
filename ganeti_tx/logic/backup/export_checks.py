"""What is asked before an instance is exported."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.compression import check_compression
from ganeti_tx.logic.questions import ask, check_online
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupExport, OpBackupPrepare
from ganeti_tx.model.opcodes.types import ExportMode
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import INodeRpc


def refuse_remote(op: OpBackupExport | OpBackupPrepare) -> None:
    """@raise OpPrereqError: it is to go to another cluster."""
    if op.mode is not ExportMode.LOCAL:
        raise OpPrereqError(f"mode {op.mode.value} is not available for exports; allowed is local", ECode.INVAL)


def check_local(op: OpBackupExport) -> str:
    """The node that is named. @raise OpPrereqError: there is none, or contradictory things are asked for."""
    refuse_remote(op)
    if not isinstance(op.target_node, str):
        raise OpPrereqError(f"target_node: a node's name is expected with mode {op.mode.value}", ECode.INVAL)
    if op.long_sleep and not op.shutdown:
        raise OpPrereqError("The long sleep option only makes sense when the instance can be shut down.", ECode.INVAL)
    if op.zero_free_space and not op.shutdown:
        raise OpPrereqError(
            "zero_free_space only makes sense when the instance is shut down; leave shutdown=false out", ECode.INVAL
        )
    return op.target_node


def reads_disks_themselves(op: OpBackupExport) -> bool:
    """Whether a running instance is down as long as its disks are read."""
    return op.shutdown and (op.long_sleep or op.remove_instance)


async def check_request(nodes: INodeRpc, op: OpBackupExport, target: InstanceView, node: Node, *, runs: bool) -> None:
    """@raise OpPrereqError: why it cannot be done."""
    check_compression(op.compress, target.cluster)
    check_online(node, f"export instance {target.instance.name} to it")
    if node.drained:
        raise OpPrereqError(f"node {node.name} is drained: cannot export to it", ECode.STATE)
    if op.remove_instance and runs and not op.shutdown:
        raise OpPrereqError(
            f"instance {target.instance.name} runs: it can be removed only if it is shut down before", ECode.STATE
        )
    if op.zero_free_space:
        refuse_zeroing(target)
    if target.disks:
        await check_script(nodes, target, "export")


def refuse_zeroing(target: InstanceView) -> None:
    """@raise OpPrereqError: there is nothing that would do it."""
    if not target.cluster.zeroing_image:
        raise OpPrereqError("A zeroing image must be set for zeroing to work", ECode.INVAL)
    raise OpPrereqError(
        "zero_free_space needs a helper machine that boots the cluster's zeroing image, which this version does not"
        " run; export without it",
        ECode.INVAL,
    )


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
