"""What an instance creation comes down to, checked without asking any node."""

from collections.abc import Collection, Mapping, Sequence

import attrs

from ganeti_tx.allocator.document import disk_entry, room
from ganeti_tx.allocator.requests import Allocate
from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.logic.disks.formats import check_format
from ganeti_tx.logic.disks.plan import DiskPlan, children_of, plan_disks
from ganeti_tx.logic.instance.nics import NicPlan, nic_entry, plan_nics
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.exclusive_storage import is_exclusive, spindles_of
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.private import reveal
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.model.params.backend import BackendParams, check_beparams, fill_beparams, typed_beparams
from ganeti_tx.model.params.disk import fill_diskparams
from ganeti_tx.model.params.hypervisor import fill_hvparams, new_hvparams, typed_hvparams
from ganeti_tx.model.params.ipolicy import InstanceSpecs
from ganeti_tx.model.params.kinds import difference, updated
from ganeti_tx.model.params.nic import fill_nicparams
from ganeti_tx.model.params.os import check_osparams, fill_osparams, fill_private_osparams
from ganeti_tx.model.tags import check_tags


@attrs.frozen
class CreatePlan:
    """A request that makes sense in itself; the parameters are the instance's own, in their types."""

    name: str
    hypervisor: Hypervisor
    os: str
    hvparams: Params
    beparams: Params
    osparams: Mapping[str, str]
    osparams_private: Mapping[str, str]
    osparams_secret: Mapping[str, str]
    template: DiskTemplate
    disks: list[DiskPlan]
    nics: list[NicPlan]
    tags: tuple[str, ...]
    start: bool
    #: Whether the OS is to be one that can be installed here.
    wants_os: bool
    #: Whether its scripts run: there is something to install it on, and nothing there yet.
    install: bool

    def filled_hvparams(self, cluster: Cluster) -> dict[str, object]:
        """All hypervisor parameters."""
        return dict(fill_hvparams(cluster, self.hypervisor, self.os, self.hvparams))

    def filled_beparams(self, cluster: Cluster) -> BackendParams:
        """All backend parameters."""
        return typed_beparams(fill_beparams(cluster, self.beparams))

    def filled_osparams(self, cluster: Cluster) -> dict[str, str]:
        """All OS parameters, private and secret ones too."""
        public = fill_osparams(cluster, self.os, self.osparams)
        private = fill_private_osparams(cluster, self.os, self.osparams_private)
        return {**public, **private, **self.osparams_secret}


def refuse_unavailable(op: OpInstanceCreate) -> None:
    """@raise OpPrereqError: the request wants what this version does not have, or contradicts itself."""
    if op.mode is not InstanceCreateMode.CREATE and (op.forthcoming or op.commit or op.no_install):
        raise OpPrereqError("forthcoming, commit and no_install go with mode create only", ECode.INVAL)
    if op.forthcoming and op.commit:
        raise OpPrereqError(
            "forthcoming and commit exclude each other: first an instance is reserved, later it is committed",
            ECode.INVAL,
        )
    if op.ip_check and not op.name_check:
        raise OpPrereqError(
            "Cannot do IP address check without a name check; give it up, too (--no-ip-check)", ECode.INVAL
        )


def check_os(op: OpInstanceCreate) -> None:
    """@raise OpPrereqError: nobody knows what to install."""
    if not op.no_install and op.os_type is None:
        raise OpPrereqError(
            "no guest OS is given; name one, or leave the installation out with no_install", ECode.INVAL
        )


def check_homes(homes: Sequence[Node], word: DiskTemplate) -> None:
    """@raise OpPrereqError: not as many nodes as the disks need, one twice, or one that takes no instances."""
    wanted = 1 + TEMPLATES[word].secondaries
    if len(homes) != wanted:
        raise OpPrereqError(f"disks of template {word.value} need {wanted} nodes; give a secondary node", ECode.INVAL)
    if len({node.uuid for node in homes}) != wanted:
        raise OpPrereqError(f"node {homes[0].name} cannot be the primary and the secondary node", ECode.INVAL)
    for node in homes:
        check_takes_instances(node)


def make_plan(
    op: OpInstanceCreate,
    cluster: Cluster,
    name: str,
    address: str | None,
    templates: Collection[DiskTemplate],
    networks: Mapping[str, Network],
) -> CreatePlan:
    """Check a request. `address` is what the name resolves to; `templates` are those available; `networks` those that
    are named, by the words for them.

    @raise OpPrereqError: why it cannot be.
    """
    hypervisor = op.hypervisor or cluster.enabled_hypervisors[0]
    if hypervisor not in cluster.enabled_hypervisors:
        enabled = ", ".join(cluster.enabled_hypervisors)
        raise OpPrereqError(
            f"Selected hypervisor ({hypervisor.value}) not enabled in the cluster ({enabled})", ECode.STATE
        )
    template, disks = plan_disks(op, cluster, name, templates)
    for index, disk in enumerate(disks):
        check_format(f"disk/{index}", TEMPLATES[template], disk.params, hypervisor)
    wants_os = not op.no_install and not any(disk.adopt for disk in disks)
    try:
        plan = CreatePlan(
            name=name,
            hypervisor=hypervisor,
            os=op.os_type or "",
            hvparams=updated({}, new_hvparams(hypervisor, op.hvparams)),
            beparams=updated({}, check_beparams(without_auto(op.beparams))),
            osparams=check_osparams(op.osparams),
            osparams_private=check_osparams(reveal(op.osparams_private), "osparams_private"),
            osparams_secret=check_osparams(reveal(op.osparams_secret), "osparams_secret"),
            template=template,
            disks=disks,
            nics=plan_nics(cluster, op.nics, address, networks),
            tags=tuple(sorted(check_tags(op.tags))),
            start=op.start and not op.no_install and not op.forthcoming,
            wants_os=wants_os,
            install=wants_os and TEMPLATES[template].has_disks,
        )
        typed_hvparams(hypervisor, plan.filled_hvparams(cluster))
        plan.filled_beparams(cluster)
    except OpPrereqError:
        raise
    except GenericError as error:
        raise OpPrereqError(str(error), ECode.INVAL) from None
    return without_defaults(plan, cluster) if op.identify_defaults else plan


def with_children(plan: CreatePlan, cluster: Cluster, group: NodeGroup) -> CreatePlan:
    """With the disks that its disks are made of, by the parameters of the group that it comes to."""
    params = fill_diskparams(cluster, group)[plan.template]
    disks = [attrs.evolve(disk, children=children_of(disk, params, cluster)) for disk in plan.disks]
    return attrs.evolve(plan, disks=disks)


def without_auto(given: Params) -> Params:
    """The word "auto" leaves a backend parameter to the cluster."""
    return {name: value for name, value in given.items() if value != "auto"}


def without_defaults(plan: CreatePlan, cluster: Cluster) -> CreatePlan:
    """What is as in the cluster need not be the instance's own."""
    usual = fill_nicparams(cluster)
    return attrs.evolve(
        plan,
        hvparams=difference(plan.hvparams, fill_hvparams(cluster, plan.hypervisor, plan.os)),
        beparams=difference(plan.beparams, fill_beparams(cluster)),
        osparams=difference(plan.osparams, fill_osparams(cluster, plan.os, {})),
        osparams_private=difference(plan.osparams_private, fill_private_osparams(cluster, plan.os, {})),
        nics=[attrs.evolve(nic, params=difference(nic.params, usual)) for nic in plan.nics],
    )


def specs_of_plan(plan: CreatePlan, cluster: Cluster, group: NodeGroup) -> InstanceSpecs:
    """What the policy of a group judges."""
    beparams = plan.filled_beparams(cluster)
    exclusive = plan.disks and is_exclusive(cluster, group)
    return InstanceSpecs(
        memory_size=beparams.maxmem,
        cpu_count=beparams.vcpus,
        disk_sizes=tuple(disk.size for disk in plan.disks),
        nic_count=len(plan.nics),
        spindle_use=spindles_of(disk.spindles for disk in plan.disks) if exclusive else beparams.spindle_use,
        disk_templates=(plan.template,),
    )


def allocate_request(plan: CreatePlan, cluster: Cluster, among: Sequence[NodeGroup], group: str | None) -> Allocate:
    """What an allocator is asked that is to choose the nodes.

    @param among: the groups that it chooses from. @param group: the name of the one that was asked for.
    """
    beparams = plan.filled_beparams(cluster)
    return Allocate(
        name=plan.name,
        memory=beparams.maxmem,
        vcpus=beparams.vcpus,
        spindle_use=beparams.spindle_use,
        os=plan.os,
        hypervisor=plan.hypervisor.value,
        disk_template=plan.template.value,
        disks=[disk_entry(disk.template, disk.size, disk.mode, disk.spindles) for disk in plan.disks],
        disk_space_total=room(plan.template, [disk.size for disk in plan.disks]),
        nics=[nic_entry(cluster, nic, among) for nic in plan.nics],
        tags=list(plan.tags),
        required_nodes=1 + TEMPLATES[plan.template].secondaries,
        group_name=group,
    )
