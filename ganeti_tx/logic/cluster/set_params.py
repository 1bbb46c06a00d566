"""Changing the cluster's settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ConfigurationError, ECode, GanetiError, OpPrereqError, QueryFilterParseError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.cluster import change_notes, communication, policy_templates
from ganeti_tx.logic.cluster.change_notes import COMMUNICATION
from ganeti_tx.logic.cluster.communication import Communication
from ganeti_tx.logic.cluster.hypervisor_settings import changed_hvparams, check_hvparams
from ganeti_tx.logic.cluster.images import warn_of_missing_images
from ganeti_tx.logic.cluster.master_address import address_steps, check_address, check_interface, with_address
from ganeti_tx.logic.cluster.mirror_helper import check_helper
from ganeti_tx.logic.cluster.os_settings import changed_oses, check_osparams, vain_changes
from ganeti_tx.logic.cluster.storage_directories import warn_of_directories
from ganeti_tx.logic.cluster.volume_group import check_volume_group
from ganeti_tx.logic.disks.exclusive import check_alike
from ganeti_tx.logic.group.settings import check_enabled
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.node.pool import FILL_POOL, fill_pool
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.policy import warn_of_new_violations
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.unsent_files import unsent_files
from ganeti_tx.logic.wanted_locks import on_all
from ganeti_tx.model import hypervisors
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.default_allocators import all_names
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import TEMPLATES, WITHOUT_DISKS
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.model.opcodes.cluster import settings_given
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.pools import has_place
from ganeti_tx.model.settings.rules import SETTINGS
from ganeti_tx.model.settings.setting import changed
from ganeti_tx.query.language.pattern import check_weight, compile_pattern

#: The cluster object also counts ports; a change that meets another one is made again so many times.
TRIES = 5
#: Parameters that have consequences beyond the cluster object.
POOL = "candidate_pool_size"
ALLOCATOR = "default_iallocator"
DEFAULT_GROUP = "default_group"
#: Seconds for the nodes to judge parameters.
TIMEOUT = 60.0


def templates_of(disks: Sequence[Disk]) -> set[DiskTemplate]:
    """The templates of an instance's disks; one without any is diskless."""
    return {disk.dev_type for disk in disks} or {WITHOUT_DISKS}


CHANGE = PlannedStep("change the settings of the cluster", (), ("cluster",))


class LUClusterSetParams(LogicalUnit[OpClusterSetParams]):
    """Change settings of the cluster. A larger pool of master candidates is filled by the same job."""

    hook = Hook(
        "cluster-modify",
        HookObject.CLUSTER,
        pre=HookNodes.MASTER,
        post=HookNodes.MASTER,
        asked={"NEW_VG_NAME": "vg_name"},
    )

    _communication: Communication | None = None

    @property
    def _given(self) -> dict[str, Any]:
        return settings_given(self.op)

    async def expand_names(self) -> None:
        """The default group is kept by its uuid."""
        if DEFAULT_GROUP in self._given:
            self.op = replace(self.op, default_group=await self._uuid_of_group())

    async def _uuid_of_group(self) -> str:
        return (await self.config.group(self._given[DEFAULT_GROUP])).uuid

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Nobody changes what the settings are checked against; nodes may be promoted when the pool grows."""
        if level is Level.NODE and POOL in self._given:
            return (on_all(level, Mode.EXCLUSIVE),)
        return (on_all(level),) if level in (Level.INSTANCE, Level.NODEGROUP, Level.NODE) else ()

    async def hook_values(self) -> Mapping[str, object]:
        """The cluster's name."""
        return {**await super().hook_values(), "OP_TARGET": (await self.config.cluster()).cluster_name}

    async def check(self) -> None:
        """Every value is possible, nothing in use is switched off, and the nodes agree to what their hypervisors get.

        To change nothing is possible, too.
        """
        for allocator in all_names(self._given.get(ALLOCATOR) or ""):
            if fault := self.context.allocator_fault(allocator):
                raise OpPrereqError(fault, ECode.INVAL)
        if DEFAULT_GROUP in self._given:
            await self._uuid_of_group()
        if network := self._given.get(COMMUNICATION):
            self._communication = await communication.find(self, network)
        before = await self.config.cluster()
        after = self._changed(before)
        self._before, self._master = before, await self.config.node(before.master_node)
        await self._check_hypervisors(before, after)
        await self._check_templates(before, after)
        if (before.master_netdev, before.master_netmask) != (after.master_netdev, after.master_netmask):
            check_address(after)
        if before.master_netdev != after.master_netdev:
            await check_interface(self, after, TIMEOUT)
        await check_hvparams(self.nodes, await self._able(), before, after, TIMEOUT)
        self._warn_of_unsent_files(before, after)
        if before.uid_pool and not after.uid_pool:
            for line in change_notes.of_pool_users(after, await self.config.instances()):
                self.warn(line)
        await check_osparams(self.nodes, await self._able(), after, changed_oses(before, after), TIMEOUT)
        if after.reserved_lvs != before.reserved_lvs:
            check_patterns("reserved_lvs", after.reserved_lvs)
        if after.volume_group_name not in (None, before.volume_group_name):
            await check_volume_group(self, after.volume_group_name, await self.config.nodes())
        await check_helper(self, before, after, await self._able(), TIMEOUT)
        await warn_of_missing_images(self, before, after, await self._able(), TIMEOUT)
        for group in await self.config.groups():
            if is_exclusive(after, group) and not is_exclusive(before, group):
                await check_alike(self, after, group, await self.config.nodes())
        await warn_of_directories(self, before, after, await self._able(), TIMEOUT)
        self._tell(before, after)
        check_enabled(set(after.ipolicy.disk_templates) - set(before.ipolicy.disk_templates), after)
        if before.ipolicy != after.ipolicy:
            views = (await self.config.instance_views()).each()
            warn_of_new_violations(views, lambda view: replace(view, cluster=after), self.warn)

    def _warn_of_unsent_files(self, before: Cluster, after: Cluster) -> None:
        told = [
            fault
            for hypervisor, os, params in changed_hvparams(before, after)
            for fault in unsent_files(
                hypervisor, params, fill_hvparams(before, hypervisor, os), self.context.listed_files()
            )
        ]
        for fault in dict.fromkeys(told):
            self.warn(fault)

    def _tell(self, before: Cluster, after: Cluster) -> None:
        """What is to be known of the change, though nothing stands in its way."""
        for lines in (vain_changes, change_notes.same_directories, change_notes.of_communication):
            for line in lines(before, self._given):
                self.info(line)
        for line in policy_templates.notes(before, after, self._given):
            self.info(line)
        for line in change_notes.of_mirrors(self._given):
            self.warn(line)

    def _changed(self, cluster: Cluster) -> Cluster:
        try:
            changes = changed(cluster, SETTINGS, self._given)
        except OpPrereqError:
            raise
        except GanetiError as error:
            raise OpPrereqError(str(error), ECode.INVAL) from None
        return policy_templates.following(cluster, replace(cluster, **changes), self._given)

    async def _check_hypervisors(self, before: Cluster, after: Cluster) -> None:
        if not after.enabled_hypervisors:
            raise OpPrereqError(
                f"at least one hypervisor must be enabled; there are {', '.join(Hypervisor)}", ECode.INVAL
            )
        for hypervisor in set(after.enabled_hypervisors) - set(before.enabled_hypervisors) - set(hypervisors.AVAILABLE):
            raise OpPrereqError(
                f"hypervisor {hypervisor.value} is not available here; available: {', '.join(hypervisors.AVAILABLE)}",
                ECode.INVAL,
            )
        gone = set(before.enabled_hypervisors) - set(after.enabled_hypervisors)
        for instance in await self.config.instances() if gone else ():
            if instance.hypervisor in gone:
                raise OpPrereqError(
                    f"hypervisor {instance.hypervisor.value} cannot be disabled: instance {instance.name} uses it",
                    ECode.STATE,
                )

    async def _check_templates(self, before: Cluster, after: Cluster) -> None:
        if not after.enabled_disk_templates:
            raise OpPrereqError("at least one disk template must be enabled", ECode.INVAL)
        makeable = {word for word in self.context.templates if has_place(TEMPLATES[word], after)}
        for template in set(after.enabled_disk_templates) - set(before.enabled_disk_templates):
            if template in self.context.templates and template not in makeable:
                raise OpPrereqError(
                    f"disk template {template.value} has no place: the cluster's {TEMPLATES[template].pool} is not set"
                    " (for a volume group by --vg-name)",
                    ECode.INVAL,
                )
            if template not in makeable:
                raise OpPrereqError(
                    f"disk template {template.value} is not available here; available: {', '.join(sorted(makeable))}",
                    ECode.INVAL,
                )
        for template in set(after.enabled_disk_templates) - makeable:
            known = template in self.context.templates and TEMPLATES[template].pool_keys
            if known and has_place(TEMPLATES[template], before):
                raise OpPrereqError(
                    f"{TEMPLATES[template].pool} cannot be taken away: disk template {template.value} is enabled and needs it",
                    ECode.INVAL,
                )
        gone = set(before.enabled_disk_templates) - set(after.enabled_disk_templates)
        for view in (await self.config.instance_views()).each() if gone else ():
            for template in templates_of(view.disks) & gone:
                raise OpPrereqError(
                    f"disk template {template.value} cannot be disabled: instance {view.instance.name} uses it",
                    ECode.STATE,
                )

    async def _able(self) -> list[Node]:
        """The nodes that run instances, as far as they can be asked."""
        return [node for node in await self.config.nodes() if node.vm_capable and not node.offline]

    def plan(self) -> Plan:
        """The change, between what it means for the cluster's address; then who else becomes a candidate."""
        steps = address_steps(CHANGE, self._before, self._changed(self._before), self._master)
        pool = [FILL_POOL] if POOL in self._given else []
        if self._communication is None:
            return [*steps, *pool]
        return [*self._communication.first_steps(), *steps, *pool, *self._communication.last_steps()]

    async def execute(self) -> dict[str, object] | None:
        """Change them, and let every node know; the jobs that connect a network, if one is to be connected."""
        before = await self.config.cluster()
        if self._communication is not None:
            await self._communication.make(self)
        await with_address(self, before, self._changed(before), self._master, self._change)
        if POOL in self._given:
            await fill_pool(self)
            await self._tell_surplus(self._given[POOL])
        await self.config.when_distributed()
        return None if self._communication is None else await self._communication.connect(self)

    async def _change(self) -> None:
        async with self.step(CHANGE.title):
            await self._change_settings()
        if self._communication is not None:
            await self.context.steps.settle()  # the settings name the network, so it stays

    async def _change_settings(self) -> None:
        for _ in range(TRIES):
            before = await self.config.cluster()
            try:
                await self.config.update_cluster(self._changed(before))
                return
            except ConfigurationError:
                if (await self.config.cluster()).serial_no == before.serial_no:
                    raise
        raise ConfigurationError("the cluster's settings are changed by others all the time; try again")

    async def _tell_surplus(self, size: int) -> None:
        held = [node.name for node in await self.config.nodes() if node.master_candidate]
        if len(held) > size:
            self.info(
                f"There are {len(held)} master candidates, more than the {size} wanted; "
                "'gnt-node modify --master-candidate=no' makes one a regular node"
            )


def check_patterns(name: str, texts: Sequence[str]) -> None:
    """@raise OpPrereqError: one is no regular expression, or could run for ever; the rules are those of filters of queries."""
    try:
        check_weight(texts)
        for text in texts:
            compile_pattern(text)
    except QueryFilterParseError as error:
        raise OpPrereqError(f"{name}: {error}", ECode.INVAL) from None
