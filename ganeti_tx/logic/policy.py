"""Whether the policy of a node group admits what an operation would make of an instance.

Called where something is made, changed or brought to another group. Nothing else asks: an instance that does not fit any
more can always be started, stopped, and brought away from a node within its group.
"""

from collections.abc import Callable, Iterable, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.instance_policy import policy_violations
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.ipolicy import InstanceSpecs, fill, violations

Warn = Callable[[str], None]


def check_specs(cluster: Cluster, group: NodeGroup, specs: InstanceSpecs, *, ignored: bool, warn: Warn) -> None:
    """The sizes of an instance that is to be made in a group.

    @param ignored: only warn, as the operator said with --ignore-ipolicy.
    @raise OpPrereqError: wrong_input, the group does not admit it.
    """
    refuse(allocation_to(group), violations(fill(cluster.ipolicy, group.ipolicy), specs), ignored=ignored, warn=warn)


def check_view(after: InstanceView, *, ignored: bool, warn: Warn) -> None:
    """An instance as a change would leave it, by the policy of its own group; arguments and errors as `check_specs`."""
    refuse(allocation_to(after.group), policy_violations(after), ignored=ignored, warn=warn)


def check_move(view: InstanceView, target: NodeGroup, *, ignored: bool, warn: Warn) -> None:
    """An instance that is to be brought to a node of a group; within its own it may always go."""
    if target.uuid != view.group.uuid:
        refuse(allocation_to(target), policy_violations(view, target), ignored=ignored, warn=warn)


def refuse(what: str, found: Sequence[str], *, ignored: bool, warn: Warn) -> None:
    """@raise OpPrereqError: wrong_input, `what` violates the policy for the reasons found, and that is not ignored."""
    if not found:
        return
    fault = f"{what} violates policy: {', '.join(found)}"
    if not ignored:
        raise OpPrereqError(fault, ECode.INVAL)
    warn(f"{fault}; ignored, as asked for")


def allocation_to(group: NodeGroup) -> str:
    """What Ganeti calls it."""
    return f"Instance allocation to group {group.uuid} ({group.name})"


def warn_of_new_violations(
    views: Iterable[InstanceView], changed: Callable[[InstanceView], InstanceView], warn: Warn
) -> None:
    """Tell of the instances that fit now and do not after a change of a policy, which is not refused for them."""
    found = [view.instance.name for view in views if policy_violations(changed(view)) and not policy_violations(view)]
    if found:
        warn(f"After the ipolicy change the following instances violate them: {', '.join(found)}")
