"""Whether instances that run can ask their nodes who they are: images made for clouds get their names and keys so."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.instance.presence import is_running, own_machine
from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told, value
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.instance_communication import communication_nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode

CHECK = "told-guests"


def ask_telling(scene: GroupScene) -> Mapping[str, Any]:
    """Whom it tells, where instances have NICs for that."""
    return {CHECK: None} if scene.cluster.instance_communication_network else {}


def judge_telling(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each that runs there; one whose NIC came after its start is told when it is started again."""
    answered: list[str] | str | None = told.check(node, CHECK, None)
    if answered is None:
        return
    running = value(told.running.get(node.name)) or {}
    nobody = isinstance(answered, str)
    why = answered if nobody else "ganeti-metad does not know it, which a restart of the instance mends"
    for view in scene.primaries(node):
        name = view.instance.name
        if is_running(own_machine(running.get(name), view.instance)) and communication_nic(view.spec()) is not None:
            text = f"instance {name} is told nothing of itself: {why}"
            yield Verdict(VerifyCode.ENODESETUP, node.name, text, nobody or name not in answered, warning=not nobody)


SUBJECTS = (Subject(judge_telling, ask_telling, of_hosts=True),)
