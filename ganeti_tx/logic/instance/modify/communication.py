"""The NIC by which an instance talks to its node (reference: network-scripts.json, instance_communication)."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.modify.items import END
from ganeti_tx.logic.instance.nics import POOL
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.types import ChangeAction, NicChange, NicKey

PREFIX = "ganeti:communication:"


def communication_change(op: OpInstanceSetParams, view: InstanceView) -> list[NicChange]:
    """What brings the NIC, or takes it away; nothing when it is so already. @raise OpPrereqError: there is no network."""
    name = f"{PREFIX}{view.instance.name}"
    there = any(nic.name == name for nic in view.instance.nics)
    if op.instance_communication is None or op.instance_communication is there:
        return []
    if there:
        return [NicChange(ChangeAction.REMOVE, name, {})]
    network = view.cluster.instance_communication_network
    if not network:
        raise OpPrereqError(
            "the cluster has no network for instance communication; 'gnt-cluster modify"
            " --instance-communication-network' gives it one",
            ECode.STATE,
        )
    return [NicChange(ChangeAction.ADD, END, {NicKey.NAME: name, NicKey.NETWORK: network, NicKey.IP: POOL})]
