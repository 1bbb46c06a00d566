"""Whether nodes have power as is recorded, where a program of the administrator's knows (reference: oob.json, verify_checks)."""

from collections.abc import Iterator, Mapping

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

#: What was learnt of a node's power, None for nothing; or why nothing was.
Learnt = bool | None | str


async def power_verdicts(parts: Parts, scene: GroupScene) -> list[Verdict]:
    """Of each node of the group that has a program, offline ones, too: these are who should have no power.

    Warnings at most, as the cluster works on; why nothing is known of some is told once, as something about the master.
    """
    told = await ask(parts, scene)
    return [*judge(scene, told), *unknown(scene.master, told)]


async def ask(parts: Parts, scene: GroupScene) -> Mapping[str, Learnt]:
    """What the programs tell, by the names of the nodes."""
    turns = DeferredSemaphore(AT_ONCE)
    asked: dict[str, Deferred[Learnt]] = {}
    for node in scene.nodes:
        if program := oob_program(fill_ndparams(scene.cluster, scene.group, node)):
            asked[node.name] = turns.run(_begin, parts, scene.master, node, program)
    return {name: await answer for name, answer in asked.items()}


def _begin(parts: Parts, master: Node, node: Node, program: str) -> "Deferred[Learnt]":
    return Deferred.fromCoroutine(_power(parts, master, node, program))


async def _power(parts: Parts, master: Node, node: Node, program: str) -> Learnt:
    command = OobCommand.POWER_STATUS
    call = RunOob(program=program, command=command, remote_node=node.name, seconds=PROGRAM_LIMIT)
    try:
        found: bool | None = read(command, await parts.nodes.call(master, call))[POWERED]
    except (RpcError, Unreadable) as error:
        return str(error.cause if isinstance(error, NodeCallError) else error)
    return found


def judge(scene: GroupScene, told: Mapping[str, Learnt]) -> Iterator[Verdict]:
    """Of the nodes of which it is known."""
    for node in scene.nodes:
        found = told.get(node.name)
        if isinstance(found, bool):
            on, recorded = ("on" if each else "off" for each in (found, node.powered))
            text = f"is {on}, but recorded is that it is {recorded}; 'gnt-node modify --node-powered' records what is"
            yield Verdict(VerifyCode.ENODEOOBPATH, node.name, text, found != node.powered, warning=True)


def unknown(master: Node, told: Mapping[str, Learnt]) -> Iterator[Verdict]:
    """Of the others, those together of which the same is told."""
    for reason in dict.fromkeys(found for found in told.values() if isinstance(found, str)):
        names = ", ".join(name for name, found in told.items() if found == reason)
        text = f"whether there is power is not known of {names}: {reason}"
        yield Verdict(VerifyCode.ENODEOOBPATH, master.name, text, warning=True)
