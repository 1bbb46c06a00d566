"""An instance with all that its parameters and its place depend on, as one state of the configuration has them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import disk_specs
from ganeti_tx.model.disk_templates import WITHOUT_DISKS
from ganeti_tx.model.enums import AdminState, DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_communication import is_communication
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.backend import fill_beparams
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.params.nic import connection, fill_nicparams
from ganeti_tx.model.params.os import fill_osparams, fill_private_osparams

V = TypeVar("V")


class InstanceView(msgspec.Struct, frozen=True, kw_only=True):
    """One instance; its disks in their order; every node it touches, their groups, and its networks, by uuid."""

    cluster: Cluster
    instance: Instance
    disks: tuple[Disk, ...]
    nodes: Mapping[str, Node]
    groups: Mapping[str, NodeGroup]
    networks: Mapping[str, Network]

    @property
    def primary(self) -> Node:
        """Where it runs."""
        return self.nodes[self.instance.primary_node]

    @property
    def group(self) -> NodeGroup:
        """The group of its primary node."""
        return self.groups[self.primary.group]

    @property
    def secondaries(self) -> list[Node]:
        """Where it has disks but does not run, by name."""
        others = {uuid for disk in self.disks for uuid in disk.nodes} - {self.instance.primary_node}
        return sorted((self.nodes[uuid] for uuid in others), key=lambda node: node.name)

    @property
    def disk_template(self) -> DiskTemplate:
        """The template of its disks; without disks it is diskless."""
        return self.disks[0].dev_type if self.disks else WITHOUT_DISKS

    def spec(
        self, hvparams: Params | None = None, beparams: Params | None = None, osparams_secret: Params | None = None
    ) -> InstanceSpec:
        """The filled instance; the given parameters count above the instance's own."""
        instance, cluster = self.instance, self.cluster
        own_hvparams = {**instance.hvparams, **(hvparams or {})}
        return InstanceSpec(
            name=instance.name,
            uuid=instance.uuid,
            primary_node=self.primary.uuid,
            secondary_nodes=[node.uuid for node in self.secondaries],
            hypervisor=instance.hypervisor.value,
            os=instance.os,
            hvparams=dict(fill_hvparams(cluster, instance.hypervisor, instance.os, own_hvparams)),
            beparams=dict(fill_beparams(cluster, {**instance.beparams, **(beparams or {})})),
            osparams=dict(fill_osparams(cluster, instance.os, instance.osparams)),
            osparams_private=dict(fill_private_osparams(cluster, instance.os, instance.osparams_private)),
            osparams_secret=dict(osparams_secret or {}),
            nics=[self.nic_spec(nic) for nic in instance.nics],
            disks=self.disk_specs(),
            tags=list(instance.tags),
            disk_template=self.disk_template.value,
            network_port=instance.network_port,
            ctime=instance.ctime,
            mtime=instance.mtime,
        )

    def disk_specs(self, node: Node | None = None) -> list[DiskSpec]:
        """Its disks, filled, in order, as one of its nodes must know them; that is the primary one unless it is told."""
        specs = disk_specs(self.disks, self.cluster, self.group, node or self.primary, self.nodes)
        return specs if self.has_active_disks else [replace(spec, active=False) for spec in specs]

    @property
    def has_active_disks(self) -> bool:
        """Whether its disks are to be ready."""
        return self.instance.disks_active or self.instance.admin_state is AdminState.UP

    def nic_spec(self, nic: Nic) -> NicSpec:
        """One network interface; what a network sets for the group counts above the interface's own."""
        network = self.networks.get(nic.network) if nic.network is not None else None
        params = fill_nicparams(self.cluster, {**nic.nicparams, **connection(nic, self.group)})
        return NicSpec(
            uuid=nic.uuid,
            mac=nic.mac,
            mode=str(params["mode"]),
            link=str(params["link"]),
            vlan=str(params["vlan"]),
            ip=nic.ip,
            name=nic.name,
            network=nic.network,
            netinfo=None if network is None else network.netinfo(),
            communication=is_communication(
                nic.name,
                None if network is None else network.name,
                params["mode"],
                self.cluster.instance_communication_network,
            ),
        )


class InstanceViews(msgspec.Struct, frozen=True, kw_only=True):
    """Several at once, from one state: what they share stands here once. The maps are by uuid."""

    cluster: Cluster
    instances: tuple[Instance, ...]
    disks: Mapping[str, Disk]
    nodes: Mapping[str, Node]
    groups: Mapping[str, NodeGroup]
    networks: Mapping[str, Network]

    def each(self) -> list[InstanceView]:
        """The views, in the order that was asked for."""
        return [
            view_of(
                instance,
                cluster=self.cluster,
                disks=self.disks,
                nodes=self.nodes,
                groups=self.groups,
                networks=self.networks,
            )
            for instance in self.instances
        ]


def view_of(
    instance: Instance,
    *,
    cluster: Cluster,
    disks: Mapping[str, Disk],
    nodes: Mapping[str, Node],
    groups: Mapping[str, NodeGroup],
    networks: Mapping[str, Network],
) -> InstanceView:
    """The view of an instance, also of one that no configuration has yet; the maps, by uuid, may hold more than it needs.

    @raise ConfigurationError: something that the instance names is not in them.
    """
    whose = f"instance {instance.name}"
    own = tuple(picked(whose, "disk", disks, instance.disks).values())
    touched = (instance.primary_node, *(uuid for disk in own for uuid in disk.nodes))
    its_nodes = picked(whose, "node", nodes, touched)
    return InstanceView(
        cluster=cluster,
        instance=instance,
        disks=own,
        nodes=its_nodes,
        groups=picked(whose, "node group", groups, (node.group for node in its_nodes.values())),
        networks=picked(whose, "network", networks, (nic.network for nic in instance.nics if nic.network is not None)),
    )


def together(cluster: Cluster, views: Sequence[InstanceView]) -> InstanceViews:
    """Several views of one state, without saying twice what they share."""
    return InstanceViews(
        cluster=cluster,
        instances=tuple(view.instance for view in views),
        disks={disk.uuid: disk for view in views for disk in view.disks},
        nodes={uuid: node for view in views for uuid, node in view.nodes.items()},
        groups={uuid: group for view in views for uuid, group in view.groups.items()},
        networks={uuid: network for view in views for uuid, network in view.networks.items()},
    )


def picked(whose: str, kind: str, among: Mapping[str, V], uuids: Iterable[str]) -> dict[str, V]:
    """The named ones, in that order. @raise ConfigurationError: one is not there."""
    wanted = list(dict.fromkeys(uuids))
    for uuid in wanted:
        if uuid not in among:
            raise ConfigurationError(f"{whose}: its {kind} {uuid} is not in the configuration")
    return {uuid: among[uuid] for uuid in wanted}
