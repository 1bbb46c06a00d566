"""To which node groups instances can come: those that are connected to all their networks, as these do not change on the way."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nodegroup import NodeGroup


def lacking(view: InstanceView, group: NodeGroup) -> list[str]:
    """The instance's networks that a group is not connected to, by name."""
    used = {nic.network for nic in view.instance.nics if nic.network is not None}
    return sorted(view.networks[uuid].name for uuid in used - group.networks.keys())


def fitting(views: Sequence[InstanceView], targets: Sequence[NodeGroup]) -> list[NodeGroup]:
    """The targets to which all can come; all of them if there is none like that, but some for each instance.

    @raise OpPrereqError: an instance can come to no target.
    """
    for view in views:
        missing = {group.name: lacking(view, group) for group in targets}
        if missing and all(missing.values()):
            told = "; ".join(f"{name} is not connected to network {', '.join(all_)}" for name, all_ in missing.items())
            raise OpPrereqError(
                f"instance {view.instance.name} cannot come to another node group: {told}; 'gnt-network connect' does that",
                ECode.STATE,
            )
    return [group for group in targets if not any(lacking(view, group) for view in views)] or list(targets)
