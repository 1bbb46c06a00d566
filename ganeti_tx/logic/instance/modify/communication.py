"""Bringing the NIC by which an instance talks to its node, or taking it away."""

from ganeti_tx.logic.instance.communication import asked_nic, nic_name
from ganeti_tx.logic.instance.modify.items import END
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.types import ChangeAction, NicChange


def communication_change(op: OpInstanceSetParams, view: InstanceView) -> list[NicChange]:
    """What does it; nothing when it is so already. @raise OpPrereqError: there is no network."""
    name = nic_name(view.instance.name)
    there = any(nic.name == name for nic in view.instance.nics)
    if op.instance_communication is None or op.instance_communication is there:
        return []
    if there:
        return [NicChange(ChangeAction.REMOVE, name, {})]
    return [NicChange(ChangeAction.ADD, END, asked_nic(view.instance.name, view.cluster))]
