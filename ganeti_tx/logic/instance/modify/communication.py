"""Bringing the NIC by which an instance talks to its node, or taking it away."""

from ganeti_tx.logic.instance.communication import asked_nic
from ganeti_tx.logic.instance.modify.items import END
from ganeti_tx.model.instance_communication import is_named_so
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.types import ChangeAction, NicChange


def communication_change(op: OpInstanceSetParams, view: InstanceView) -> list[NicChange]:
    """What does it; nothing when it is so already. @raise OpPrereqError: there is no network."""
    name = next((nic.name for nic in view.instance.nics if is_named_so(nic.name)), None)
    if op.instance_communication is None or op.instance_communication is (name is not None):
        return []
    if name is not None:
        return [NicChange(ChangeAction.REMOVE, name, {})]
    return [NicChange(ChangeAction.ADD, END, asked_nic(view.instance.name, view.cluster))]
