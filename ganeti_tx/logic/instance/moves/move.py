"""An instance that is to run on another node that reaches its disks."""

from collections.abc import Sequence

import attrs
from msgspec.structs import replace

from ganeti_tx.model.disk import DiskPlace, place_of
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


@attrs.frozen
class Move:
    """The instance as it is, and as it will be: the same but for its primary node."""

    before: InstanceView
    after: InstanceView

    @property
    def instance(self) -> Instance:
        """As it is configured now."""
        return self.before.instance

    @property
    def name(self) -> str:
        """The instance's."""
        return self.instance.name

    @property
    def source(self) -> Node:
        """From where."""
        return self.before.primary

    @property
    def target(self) -> Node:
        """To where."""
        return self.after.primary

    @property
    def is_mirrored(self) -> bool:
        """Whether the target has copies of the disks, which the cluster keeps; else all nodes reach the same ones."""
        return is_mirrored(self.before)

    @property
    def copies(self) -> bool:
        """Whether only the source has the disks, which go to the target, too."""
        return is_local(self.before)

    @property
    def clean_up(self) -> str:
        """The command that finds out where it is after a migration that broke off."""
        return f"gnt-instance migrate --cleanup{' --copy-disks' if self.copies else ''} {self.name}"

    @property
    def is_up(self) -> bool:
        """Whether it shall run."""
        return self.instance.admin_state is AdminState.UP

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of both nodes."""
        return (self.source.name, self.target.name)

    @property
    def others(self) -> Sequence[Node]:
        """The nodes of the instance but the source, by name, as hooks before the move are run there."""
        known = {node.uuid: node for node in (*self.before.secondaries, self.target) if node.uuid != self.source.uuid}
        return sorted(known.values(), key=lambda node: node.name)


def is_mirrored(view: InstanceView) -> bool:
    """Whether the cluster keeps copies of the disks on other nodes."""
    return TEMPLATES[view.disk_template].mirrored is Mirrored.INTERNALLY


def is_local(view: InstanceView) -> bool:
    """Whether no other node has its disks, nor reaches them."""
    return bool(view.disks) and TEMPLATES[view.disk_template].mirrored is Mirrored.NOT


def carried(view: InstanceView) -> InstanceView:
    """An instance whose disks are where it runs."""
    home = view.instance.primary_node
    return replace(view, disks=tuple(replace(disk, nodes=(home,)) if disk.nodes else disk for disk in view.disks))


def places(view: InstanceView) -> tuple[str, str, Sequence[DiskPlace]]:
    """The instance, its node, and where its disks are, as the configuration is told."""
    return view.instance.uuid, view.primary.uuid, [place_of(disk) for disk in view.disks]


def placed(view: InstanceView, node: Node, group: NodeGroup) -> InstanceView:
    """The instance as it would be on another node, which is in the group."""
    return replace(
        view,
        instance=replace(view.instance, primary_node=node.uuid),
        nodes={node.uuid: node, **{uuid: each for uuid, each in view.nodes.items() if each.uuid != node.uuid}},
        groups={**view.groups, group.uuid: group},
    )
