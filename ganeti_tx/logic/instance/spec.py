"""Instances as a node must know them: everything filled in from the cluster, the group and the instance itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.backend import fill_beparams
from ganeti_tx.model.params.disk import fill_diskparams, with_params
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.params.nic import fill_nicparams
from ganeti_tx.model.params.os import fill_osparams, fill_private_osparams


@attrs.frozen
class Surrounded:
    """An instance with all that its parameters and its place depend on; `nodes` holds every node it touches, by uuid."""

    cluster: Cluster
    instance: Instance
    disks: tuple[Disk, ...]
    group: NodeGroup
    nodes: Mapping[str, Node]
    networks: Mapping[str, Network]

    @property
    def primary(self) -> Node:
        """Where it runs."""
        return self.nodes[self.instance.primary_node]

    @property
    def secondaries(self) -> list[Node]:
        """Where it has disks but does not run, by name."""
        others = {uuid for disk in self.disks for uuid in disk.nodes} - {self.instance.primary_node}
        return sorted((self.nodes[uuid] for uuid in others), key=lambda node: node.name)

    @property
    def disk_template(self) -> DiskTemplate:
        """The template of its disks."""
        return template_of(self.disks)

    def spec(
        self, hvparams: Params | None = None, beparams: Params | None = None, osparams_secret: Params | None = None
    ) -> InstanceSpec:
        """The filled instance; the given parameters count above the instance's own."""
        instance, cluster = self.instance, self.cluster
        own_hvparams = {**instance.hvparams, **(hvparams or {})}
        return InstanceSpec(
            name=instance.name,
            uuid=instance.uuid,
            primary_node=self.primary.name,
            secondary_nodes=[node.name for node in self.secondaries],
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

    def disk_specs(self) -> list[DiskSpec]:
        """Its disks, filled, in order."""
        return disk_specs(self.disks, self.cluster, self.group)

    def nic_spec(self, nic: Nic) -> NicSpec:
        """One network interface; what a network sets for the group counts above the interface's own."""
        network = self.networks.get(nic.network) if nic.network is not None else None
        own = {**nic.nicparams, **(self.group.networks.get(network.uuid, {}) if network is not None else {})}
        params = fill_nicparams(self.cluster, own)
        return NicSpec(
            uuid=nic.uuid,
            mac=nic.mac,
            mode=str(params["mode"]),
            link=str(params["link"]),
            vlan=str(params["vlan"]),
            ip=nic.ip,
            name=nic.name,
            network=nic.network,
            netinfo=None if network is None else msgspec.to_builtins(network),
        )


async def surround(config: IConfig, identifier: str) -> Surrounded:
    """Read an instance with what belongs to it. @raise OpPrereqError: it is not there."""
    instance = await config.instance(identifier)
    disks = await config.disks(instance.uuid)
    return await surround_with(config, instance, disks)


async def surround_with(config: IConfig, instance: Instance, disks: Sequence[Disk]) -> Surrounded:
    """The same for an instance that the configuration does not have yet."""
    uuids = dict.fromkeys((instance.primary_node, *(uuid for disk in disks for uuid in disk.nodes)))
    nodes = {node.uuid: node for node in await config.nodes(list(uuids))}
    wanted = {nic.network for nic in instance.nics if nic.network is not None}
    return Surrounded(
        cluster=await config.cluster(),
        instance=instance,
        disks=tuple(disks),
        group=await config.group(nodes[instance.primary_node].group),
        nodes=nodes,
        networks={uuid: await config.network(uuid) for uuid in sorted(wanted)},
    )


def template_of(disks: Sequence[Disk]) -> DiskTemplate:
    """The template of an instance's disks; without disks it is diskless."""
    return disks[0].dev_type if disks else DiskTemplate.DISKLESS


def disk_specs(disks: Sequence[Disk], cluster: Cluster, group: NodeGroup) -> list[DiskSpec]:
    """Disks as nodes must know them."""
    filled = fill_diskparams(cluster, group)
    return [disk_spec(with_params(disk, filled), index) for index, disk in enumerate(disks)]


def disk_spec(disk: Disk, index: int = -1) -> DiskSpec:
    """One disk that carries its filled parameters."""
    own: dict[str, Any] = dict(disk.params or {})
    return DiskSpec(
        uuid=disk.uuid,
        dev_type=disk.dev_type.value,
        size=disk.size,
        logical_id=None if disk.logical_id is None else list(disk.logical_id),
        index=index,
        mode=disk.mode,
        name=disk.name,
        iv_name=disk.iv_name,
        spindles=disk.spindles,
        params=own,
        children=[disk_spec(child) for child in disk.children],
    )
