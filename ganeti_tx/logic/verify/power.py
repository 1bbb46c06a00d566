"""Whether nodes have power as is recorded, where a program of the administrator's knows (reference: oob.json, verify_checks)."""

from twisted.internet.defer import Deferred, DeferredSemaphore

from ganeti_tx.logic.node.oob_answers import POWERED, Unreadable, read
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.scene import GroupScene
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.types import OobCommand
from ganeti_tx.model.params.node import fill_ndparams, oob_program
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.administration import RunOob
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

#: Seconds for one program, and how many run at the same time: the locks of the group are held meanwhile.
PROGRAM_LIMIT = 20
AT_ONCE = 10


async def power_verdicts(parts: Parts, scene: GroupScene) -> list[Verdict]:
    """Of each node of the group that has a program, offline ones, too: these are who should have no power."""
    turns = DeferredSemaphore(AT_ONCE)
    asked = [
        turns.run(_begin, parts, scene.master, node, program) for node in scene.nodes if (program := _program(scene, node))
    ]  # fmt: skip
    return [await each for each in asked]


def _program(scene: GroupScene, node: Node) -> str:
    return oob_program(fill_ndparams(scene.cluster, scene.group, node))


def _begin(parts: Parts, master: Node, node: Node, program: str) -> "Deferred[Verdict]":
    return Deferred.fromCoroutine(_judge(parts, master, node, program))


async def _judge(parts: Parts, master: Node, node: Node, program: str) -> Verdict:
    """A warning at most: the cluster works on with it."""
    command = OobCommand.POWER_STATUS
    call = RunOob(program=program, command=command, remote_node=node.name, seconds=PROGRAM_LIMIT)
    try:
        found: bool | None = read(command, await parts.nodes.call(master, call))[POWERED]
    except (RpcError, Unreadable) as error:
        cause = error.cause if isinstance(error, NodeCallError) else error
        return _verdict(node, f"whether it has power is not known: {cause}")
    on, recorded = ("on" if each else "off" for each in (found, node.powered))
    text = f"is {on}, but recorded is that it is {recorded}; 'gnt-node modify --node-powered' records what is"
    return _verdict(node, text, found is not None and found != node.powered)


def _verdict(node: Node, text: str, wrong: bool = True) -> Verdict:
    return Verdict(VerifyCode.ENODEOOBPATH, node.name, text, wrong, warning=True)
