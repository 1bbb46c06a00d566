"""The disks of an instance as a request would have them: changed one after the other, on paper."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

import attrs
from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError, ParameterError
from ganeti_tx.logic.disks.adopt import with_sizes
from ganeti_tx.logic.disks.formats import check_format
from ganeti_tx.logic.disks.make import make_disk
from ganeti_tx.logic.disks.plan import DiskPlan, adopted_id, children_of, plan_disk
from ganeti_tx.logic.disks.providers import check_providers
from ganeti_tx.logic.instance.modify.items import (
    check_name,
    check_number,
    check_requests,
    found,
    inserted,
    place,
    replaced,
    without,
)
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.disk import MAX_DISKS, Disk
from ganeti_tx.model.disk_template import ADOPT, COMMON_KEYS, Place, Template
from ganeti_tx.model.disk_templates import TEMPLATES, WITHOUT_DISKS
from ganeti_tx.model.enums import FileDriver
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.types import ChangeAction, DiskChange
from ganeti_tx.model.params.disk import check_of_provider, fill_diskparams
from ganeti_tx.model.params.kinds import NONE, updated
from ganeti_tx.model.pools import pool_of

KIND = "disk"
#: What can be said anew of any disk.
CHANGEABLE = frozenset({"mode", "name"})
MODES: Mapping[object, Literal["ro", "rw"]] = {"ro": "ro", "rw": "rw"}


def homes_of_attached(changes: Sequence[DiskChange], detached: Sequence[Disk]) -> set[str]:
    """The uuids of the nodes that have the disks which are to be attached."""
    words = {word for each in changes if each.action is ChangeAction.ATTACH for word in each.params.values()}
    return {uuid for disk in detached if disk.uuid in words or disk.name in words for uuid in disk.nodes}


@attrs.define
class DiskChanges:
    """Does the changes in their order.

    @ivar detached: the disks that nobody has.
    @ivar plans: those that are to be made, by uuid. @ivar removed: those that are to be removed with their data.
    """

    parts: Parts
    view: InstanceView
    detached: Sequence[Disk]
    disks: tuple[Disk, ...] = attrs.field(init=False)
    plans: dict[str, DiskPlan] = attrs.field(factory=dict, init=False)
    removed: list[Disk] = attrs.field(factory=list, init=False)
    told: list[tuple[str, object]] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.disks = self.view.disks

    async def make(self, changes: Sequence[DiskChange]) -> None:
        """@raise OpPrereqError: one of them cannot be."""
        check_requests(KIND, len(changes), MAX_DISKS)
        for change in changes:
            if change.action is ChangeAction.ADD:
                await self._add(change)
            elif change.action is ChangeAction.ATTACH:
                self._attach(change)
            elif change.action is ChangeAction.MODIFY:
                self._modify(change)
            else:
                self._take_out(change)
        check_number(KIND, len(self.disks), MAX_DISKS)
        await self._check_providers()

    async def _check_providers(self) -> None:
        """@raise OpPrereqError: disks that are new here, or have other parameters, cannot be of their provider."""
        before = {disk.uuid: disk.params for disk in self.view.disks}
        told = [disk for disk in self.disks if disk.uuid in self.plans or disk.params != before.get(disk.uuid)]
        await check_providers(self.parts, self.view.primary, told, [disk.uuid for disk in told])

    @property
    def attached(self) -> list[Disk]:
        """Disks that were nobody's."""
        free = {disk.uuid for disk in self.detached}
        return [disk for disk in self.disks if disk.uuid in free]

    @property
    def attached_before(self) -> list[Disk]:
        """The same, as they were."""
        taken = {disk.uuid for disk in self.disks}
        return [disk for disk in self.detached if disk.uuid in taken]

    @property
    def added(self) -> list[Disk]:
        """New disks."""
        return [disk for disk in self.disks if disk.uuid in self.plans]

    @property
    def left(self) -> list[int]:
        """The places of the disks that the instance had and has not any more."""
        stay = {disk.uuid for disk in self.disks}
        return [index for index, disk in enumerate(self.view.disks) if disk.uuid not in stay]

    async def _add(self, change: DiskChange) -> None:
        if self.view.disk_template is WITHOUT_DISKS:
            raise OpPrereqError("Must specify disk type on diskless instance", ECode.INVAL)
        if "size" not in change.params and ADOPT not in change.params:
            raise OpPrereqError("Missing required parameter 'size'", ECode.INVAL)
        index = place(KIND, change.item, self.disks)
        [plan] = await with_sizes(self.parts, self.view.primary, [self._plan(f"disk/{index}", change.params)])
        self._refuse_twice(plan)
        check_name(KIND, plan.name, self.disks)
        disk = await make_disk(self.parts.config, plan, index, self._homes())
        self.plans[disk.uuid] = plan
        self.disks = inserted(self.disks, index, disk)
        self.told.append((f"disk/{index}", f"add:size={disk.size},mode={disk.mode}"))

    def _plan(self, what: str, asked: Mapping[str, Any]) -> DiskPlan:
        """A disk beside the others, with those that it is made of."""
        cluster, word = self.view.cluster, self.view.disk_template
        template = TEMPLATES[word]
        plan = plan_disk(what, asked, word, self._place(template, asked), cluster)
        check_format(what, template, plan.params, self.view.instance.hypervisor)
        params = fill_diskparams(cluster, self.view.group)[word]
        return attrs.evolve(plan, children=children_of(plan, params, cluster))

    def _refuse_twice(self, plan: DiskPlan) -> None:
        """@raise OpPrereqError: another new disk adopts the same."""
        others = [adopted_id(each) for each in self.plans.values() if each.adopt is not None]
        if plan.adopt is not None and adopted_id(plan) in others:
            raise OpPrereqError(f"{plan.adopt} is to be adopted by two disks", ECode.INVAL)

    def _place(self, template: Template, asked: Mapping[str, Any]) -> Place:
        """Where the other disks are."""
        chosen = asked.get(template.pool_key) if template.pool_key is not None else None
        pool = str(chosen or pool_of(template, self.view.cluster))
        first = self.view.disks[0].logical_id or ()
        directory = PurePosixPath(pool) / self.view.instance.name
        if template.in_files and first:
            directory = PurePosixPath(str(first[-1])).parent
        driver = str(first[0]) if template.in_files and len(first) > 1 else FileDriver.LOOP.value
        return Place(pool=pool, directory=str(directory), driver=driver, said=asked)

    def _homes(self) -> list[str]:
        """The nodes that new disks come to, the primary one first."""
        return [self.view.primary.uuid, *(node.uuid for node in self.view.secondaries)]

    def _attach(self, change: DiskChange) -> None:
        index = place(KIND, change.item, self.disks)
        disk = self._free(change.params)
        self._check_fits(disk)
        check_name(KIND, disk.name, self.disks)
        self.disks = inserted(self.disks, index, disk)
        self.told.append((f"disk/{index}", f"attach:size={disk.size},mode={disk.mode}"))

    def _free(self, asked: Mapping[str, Any]) -> Disk:
        """The disk of a name or uuid that nobody has."""
        if len(asked) != 1 or not asked.keys() <= {"name", "uuid"}:
            raise OpPrereqError("a disk that is to be attached is named by either name or uuid alone", ECode.INVAL)
        [(key, word)] = asked.items()
        meant = [disk for disk in self.detached if word == (disk.uuid if key == "uuid" else disk.name)]
        meant = [disk for disk in meant if all(disk.uuid != each.uuid for each in self.disks)]
        if not meant:
            raise OpPrereqError(
                f"Cannot attach disk: there is none of {key} {word!r:.100} that no instance has", ECode.NOENT
            )
        if len(meant) > 1:
            raise OpPrereqError(
                f"several disks that no instance has are named {word!r:.100}; give the uuid", ECode.INVAL
            )
        return meant[0]

    def _check_fits(self, disk: Disk) -> None:
        """@raise OpPrereqError: the disk is of another template than the others, or elsewhere, or nothing can read it."""
        check_format(f"disk {disk.uuid}", disk.template, disk.params, self.view.instance.hypervisor)
        word, cluster = self.view.disk_template, self.view.cluster
        if word is not WITHOUT_DISKS and disk.dev_type is not word:
            raise OpPrereqError(
                f"disk {disk.uuid} is of template {disk.dev_type.value}, those of the instance of {word.value}",
                ECode.INVAL,
            )
        if disk.dev_type not in cluster.enabled_disk_templates:
            raise OpPrereqError(f"disk template {disk.dev_type.value} is not enabled in this cluster", ECode.STATE)
        if disk.nodes and self.view.primary.uuid not in disk.nodes:
            raise OpPrereqError(f"disk {disk.uuid} is not on node {self.view.primary.name}", ECode.STATE)
        if self.disks and set(disk.nodes) != set(self.disks[0].nodes):
            raise OpPrereqError(f"disk {disk.uuid} is not on the same nodes as the others", ECode.STATE)

    def _modify(self, change: DiskChange) -> None:
        if not change.params:
            raise OpPrereqError(f"disk {change.item}: nothing to change is given", ECode.INVAL)
        index = found(KIND, change.item, self.disks)
        disk, asked = self.disks[index], dict(change.params)
        if "size" in asked:
            raise OpPrereqError("Disk size change not possible, use grow-disk", ECode.INVAL)
        others = {key: asked[key] for key in sorted(asked.keys() - CHANGEABLE)}
        if others and disk.template.provider_key is None:
            raise OpPrereqError(
                f"disk/{index}: {next(iter(others))!r} cannot be changed; allowed are mode, name", ECode.INVAL
            )
        if others:
            disk = replace(disk, params=self._of_provider(index, disk, others))
            self.told.extend((f"disk.{key}/{index}", value) for key, value in others.items())
        if "mode" in asked:
            disk = replace(disk, mode=self._mode(index, asked["mode"]))
            self.told.append((f"disk.mode/{index}", disk.mode))
        if "name" in asked:
            disk = replace(disk, name=None if asked["name"] == NONE else str(asked["name"]))
            check_name(KIND, disk.name, without(self.disks, index))
            self.told.append((f"disk.name/{index}", disk.name))
        self.disks = replaced(self.disks, index, disk)

    def _of_provider(self, index: int, disk: Disk, given: Mapping[str, object]) -> Mapping[str, object] | None:
        """The disk's parameters with others for its provider."""
        if wrong := sorted(given.keys() & (COMMON_KEYS | disk.template.known)):
            raise OpPrereqError(f"disk/{index}: {wrong[0]!r} cannot be changed", ECode.INVAL)
        try:
            check_of_provider(given, f"disk/{index}")
        except ParameterError as error:
            raise OpPrereqError(str(error), ECode.INVAL) from None
        return updated(disk.params or {}, given) or None

    def _mode(self, index: int, word: object) -> Literal["ro", "rw"]:
        if word not in MODES:
            raise OpPrereqError(f"disk/{index}: mode {word!r} is not allowed; allowed are ro, rw", ECode.INVAL)
        return MODES[word]

    def _take_out(self, change: DiskChange) -> None:
        """Detach a disk, or remove it."""
        if change.params:
            raise OpPrereqError(f"disk {change.item}: it is to leave, so nothing can be said of it", ECode.INVAL)
        index = found(KIND, change.item, self.disks)
        disk = self.disks[index]
        if change.action is ChangeAction.DETACH and disk.uuid in self.plans:
            raise OpPrereqError(f"disk/{index} is added and detached at once", ECode.INVAL)
        if change.action is ChangeAction.REMOVE and self.plans.pop(disk.uuid, None) is None:
            self.removed.append(disk)
        self.disks = without(self.disks, index)
        self.told.append((f"disk/{index}", change.action.value))
