"""One node group as verification looks at it: the configuration's side, and what the nodes answered."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import attrs

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews, view_of
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.rpc.calls.check_answers import CheckAnswers
from ganeti_tx.rpc.calls.disk import DiskState
from ganeti_tx.rpc.calls.instance import RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts
from ganeti_tx.rpc.calls.os import OsReport
from ganeti_tx.rpc.interfaces import Outcome

T = TypeVar("T")


@attrs.frozen(slots=False)
class GroupScene:
    """A group in one state of the configuration."""

    group: NodeGroup
    everything: InstanceViews

    @property
    def cluster(self) -> Cluster:
        """The cluster object."""
        return self.everything.cluster

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes of the group, by name."""
        own = (node for node in self.everything.nodes.values() if node.group == self.group.uuid)
        return sorted(own, key=lambda node: node.name)

    @property
    def online(self) -> list[Node]:
        """Those that are asked."""
        return [node for node in self.nodes if not node.offline]

    @property
    def master(self) -> Node:
        """The master, of this group or another."""
        return self.everything.nodes[self.cluster.master_node]

    @cached_property
    def instances(self) -> list[InstanceView]:
        """The instances whose primary node is in the group; one that names what is not there is the configuration's fault."""
        members = {node.uuid for node in self.nodes}
        own = (each for each in self.everything.instances if each.primary_node in members and not each.forthcoming)
        return [view for view in map(self._view, own) if view is not None]

    def _view(self, instance: Instance) -> InstanceView | None:
        whole = self.everything
        try:
            return view_of(
                instance,
                cluster=whole.cluster,
                disks=whole.disks,
                nodes=whole.nodes,
                groups=whole.groups,
                networks=whole.networks,
            )
        except ConfigurationError:
            return None

    def primaries(self, node: Node) -> list[InstanceView]:
        """The instances that run on a node, or would."""
        return [view for view in self.instances if view.instance.primary_node == node.uuid]


@attrs.frozen(kw_only=True)
class Told:
    """What nodes answered, by their names. `began` and `ended` are the master's time around the question for theirs."""

    checks: Mapping[str, Outcome[CheckAnswers]]
    ssh: Mapping[str, Outcome[CheckAnswers]]
    running: Mapping[str, Outcome[dict[str, RunningInstance]]]
    facts: Mapping[str, Outcome[NodeFacts]]
    oses: Mapping[str, Outcome[list[OsReport]]]
    tokens: Mapping[str, Outcome[list[tuple[str, str]]]]
    has_master_ip: Outcome[bool]
    #: By node and the uuid of the disk.
    disks: Mapping[tuple[str, str], DiskState] = attrs.field(factory=dict)
    began: float
    ended: float

    def check(self, node: Node, name: str, default: T) -> T:
        """What a node's check gave, of its type in ANSWERS; the default if it gave nothing."""
        outcome = self.checks.get(node.name)
        found = outcome.value.get(name) if outcome is not None and outcome.value is not None else None
        return default if found is None else found

    def answered(self, node: Node) -> bool:
        """Whether the node has answered at all."""
        return node.name in self.checks and self.checks[node.name].error is None


def value(outcome: Outcome[T] | None) -> T | None:
    """What was answered, if anything."""
    return None if outcome is None else outcome.value


def no_question(scene: GroupScene) -> Mapping[str, Any]:
    """Nothing is asked of `node_verify`."""
    return {}


@attrs.frozen
class Subject:
    """One thing that is verified of each node.

    @ivar judge: gives what is to be said of one node that has answered.
    @ivar asks: the checks of `node_verify` that it needs, with their arguments.
    @ivar of_hosts: only nodes that can have instances are asked and judged.
    """

    judge: Callable[[GroupScene, Told, Node], Iterable[Verdict]]
    asks: Callable[[GroupScene], Mapping[str, Any]] = no_question
    of_hosts: bool = False

    def concerns(self, node: Node) -> bool:
        """Whether a node is asked and judged."""
        return node.vm_capable or not self.of_hosts

    def verdicts(self, scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
        """Of a node."""
        if self.concerns(node):
            yield from self.judge(scene, told, node)
