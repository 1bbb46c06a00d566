"""Whether a node has more virtual CPUs and spindles in use than the policy's ratios allow.

They are about nodes, not about instances: an allocator keeps to them, and an operator who names a node is told, as nothing
breaks when a node is shared by more (Ganeti's own master daemon does not look at them at all).
"""

from collections.abc import Callable, Iterable

import attrs

from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.params.backend import BackendParams, instance_beparams
from ganeti_tx.model.params.ipolicy import fill
from ganeti_tx.model.params.node import fill_ndparams, typed_ndparams
from ganeti_tx.rpc.calls.node import NodeInfo
from ganeti_tx.rpc.interfaces import RpcError

#: The backend parameters that count.
RATED = frozenset({"vcpus", "spindle_use"})


@attrs.frozen
class Ratio:
    """One of the two: what instances use of a node, of how many, and how often these may be shared."""

    name: str
    units: str
    of: str
    used: float
    there: float
    allowed: float

    def excess(self) -> str | None:
        """What is told when more is used than allowed."""
        if not self.there or self.used <= self.there * self.allowed:
            return None
        return f"{self.used:g} {self.units} for {self.there:g} {self.of}; {self.name} is {self.allowed:g}"


async def warn_of_ratios(parts: Parts, view: InstanceView, *, ignored: bool) -> None:
    """Warn when the primary node of an instance, as it is to be, would share its processors or spindles too often.

    @param ignored: the operator wants to hear nothing of policies (--ignore-ipolicy).
    """
    if ignored:
        return
    node, own = view.primary, view.instance
    primary, secondary = await parts.config.instances_of_node(node.uuid)
    policy = fill(view.cluster.ipolicy, view.group.ipolicy)

    def total(instances: Iterable[Instance], amount: Callable[[BackendParams], int]) -> int:
        others = [each for each in instances if each.uuid != own.uuid and each.admin_state is not AdminState.OFFLINE]
        return sum(amount(instance_beparams(view.cluster, each)) for each in [own, *others])

    spindles = typed_ndparams(fill_ndparams(view.cluster, view.group, node)).spindle_count
    vcpus = total(primary, lambda params: params.vcpus)
    ratios = [
        Ratio(
            "vcpu-ratio",
            "virtual CPUs",
            "processors",
            vcpus,
            await processors(parts, view, vcpus, policy.vcpu_ratio),
            policy.vcpu_ratio,
        ),
        Ratio(
            "spindle-ratio",
            "uses",
            "spindles",
            total([*primary, *secondary], lambda params: params.spindle_use),
            spindles,
            policy.spindle_ratio,
        ),
    ]
    if is_exclusive(view.cluster, view.group, node):
        del ratios[1:]  # spindles are real ones there, which no two disks share
    for told in filter(None, (each.excess() for each in ratios)):
        parts.warn(f"node {node.name} would have {told} in the policy of group {view.group.name}")


async def processors(parts: Parts, view: InstanceView, used: int, ratio: float) -> float:
    """Those of the primary node, which is not asked while a single one would do for what is used; 0 if it does not tell."""
    if used <= ratio:
        return 1
    word = view.instance.hypervisor.value
    try:
        facts = await parts.nodes.call(view.primary, NodeInfo(storage_units=[], hypervisors=[word]))
    except RpcError:
        return 0
    found = facts.hypervisors.get(word, {}).get("cpu_total")
    return found if isinstance(found, int) else 0
