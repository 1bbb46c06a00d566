"""Another disk template: new disks in the place of the old ones, with what is on these (reference: storage-rules.json)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.carrying import Carrying
from ganeti_tx.logic.disks.ends import RECEIVING, SENDING, DiskEnd
from ganeti_tx.logic.disks.formats import check_format
from ganeti_tx.logic.disks.make import make_disk
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, shutdown_disks, shutdowns
from ganeti_tx.logic.disks.plan import READ_WRITE, DiskPlan, children_of, place_of, plan_disk
from ganeti_tx.logic.disks.sync import wait_for_sync
from ganeti_tx.logic.instance.modify.disks import DiskChanges
from ganeti_tx.logic.instance.stopped import check_gone, check_node_online
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_formats import format_of
from ganeti_tx.model.disk_template import COMMON_KEYS, Adoption, Template
from ganeti_tx.model.disk_templates import TEMPLATES, WITHOUT_DISKS
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.params.disk import fill_diskparams
from ganeti_tx.model.sizes import shown

COPY = "copy the disks to the new ones"
#: What is said of a new template; without one it means nothing.
OF_TEMPLATE = ("remote_node", "remote_node_uuid", "iallocator", "ext_params", "file_driver", "file_storage_dir")


def refuse_without_template(op: OpInstanceSetParams) -> None:
    """@raise OpPrereqError: wrong_input, something is said of a new template, and none is given."""
    if op.disk_template is None and (given := [name for name in OF_TEMPLATE if getattr(op, name)]):
        raise OpPrereqError(f"{given[0]} goes with a new disk template only; give disk_template, too", ECode.INVAL)


def check_conversion(op: OpInstanceSetParams, view: InstanceView, available: Collection[DiskTemplate]) -> Template:
    """The new template. @raise OpPrereqError: the disks cannot be converted to it."""
    word, enabled = op.disk_template, view.cluster.enabled_disk_templates
    assert word is not None
    template = TEMPLATES[word]
    if not template.has_disks or template.adoption is Adoption.ALWAYS:
        raise OpPrereqError(f"Conversion to the '{word.value}' disk template is not supported", ECode.INVAL)
    if word not in enabled:
        raise OpPrereqError(
            f"Disk template '{word.value}' is not enabled for this cluster (enabled templates:"
            f" {', '.join(sorted(enabled))})",
            ECode.STATE,
        )
    if word not in available:
        raise OpPrereqError(f"Conversion to the '{word.value}' disk template is not available here", ECode.INVAL)
    if view.disk_template is word and not others(op.ext_params, template, view.disks):
        raise OpPrereqError(f"Instance already has disk template {word.value}", ECode.INVAL)
    if view.disk_template is WITHOUT_DISKS:
        raise OpPrereqError(f"instance {view.instance.name} has no disks that could be converted", ECode.STATE)
    if op.disks or op.pnode or op.pnode_uuid:
        other = "changes of single disks" if op.disks else "a new primary node"
        raise OpPrereqError(f"a conversion of the disks and {other} cannot be asked for at once", ECode.INVAL)
    check_said(op, word, template)
    return template


def others(said: Mapping[str, Any], template: Template, disks: Sequence[Disk]) -> bool:
    """Whether disks of the same template are to be other ones in what is said of them (`Template.fixed`)."""
    wanted = {key: said[key] for key in template.fixed if key in said}
    return any(
        (disk.params or {}).get(key, template.fixed[key][0]) != word for disk in disks for key, word in wanted.items()
    )


def check_said(op: OpInstanceSetParams, word: DiskTemplate, template: Template) -> None:
    """@raise OpPrereqError: what is said of the new disks does not go with their template."""
    if not template.in_files and (op.file_driver is not None or op.file_storage_dir is not None):
        raise OpPrereqError(f"file_driver and file_storage_dir do not go with template {word.value}", ECode.INVAL)
    if template.provider_key is None and op.ext_params.keys() - template.fixed.keys():
        known = f"; of ext_params it knows {', '.join(template.fixed)} only" if template.fixed else ""
        raise OpPrereqError(f"ext_params do not go with template {word.value}{known}", ECode.INVAL)
    if wrong := sorted(op.ext_params.keys() & (COMMON_KEYS | {"vg", "metavg", "adopt"})):
        raise OpPrereqError(f"ext_params: {wrong[0]} stays as it is and cannot be given", ECode.INVAL)
    if template.provider_key is not None and not op.ext_params.get(template.provider_key):
        raise OpPrereqError(
            f"template {word.value} needs a provider; give {template.provider_key} in ext_params", ECode.INVAL
        )


def check_secondary(op: OpInstanceSetParams, view: InstanceView, template: Template, secondary: Node | None) -> None:
    """@raise OpPrereqError: a second node is missing, or of no use, or cannot have disks."""
    if not template.secondaries:
        if secondary is not None or op.iallocator:
            raise OpPrereqError(f"disks of template {op.disk_template} have no secondary node", ECode.INVAL)
        return
    if secondary is None:
        raise OpPrereqError(f"template {op.disk_template} needs a secondary node; give one with -n", ECode.INVAL)
    if secondary.uuid == view.primary.uuid:
        raise OpPrereqError(f"node {secondary.name} cannot be the primary and the secondary node", ECode.STATE)
    check_takes_instances(secondary)


@attrs.define
class Conversion(DiskChanges):
    """All disks leave, and as many come, with the same size, mode and name."""

    secondary: Node | None = None

    async def convert(self, op: OpInstanceSetParams, template: Template) -> None:
        """Plan the new disks. @raise OpPrereqError: they cannot be so."""
        word = op.disk_template
        assert word is not None
        homes = [self.view.primary.uuid, *([self.secondary.uuid] if self.secondary is not None else [])]
        new = []
        for index, disk in enumerate(self.view.disks):
            plan = self._like(op, word, template, index, disk)
            made = await make_disk(self.parts.config, plan, index, homes)
            self.plans[made.uuid] = plan
            new.append(made)
        self.disks, self.removed = tuple(new), list(self.view.disks)
        await self._check_providers()
        self.told.append(("disk_template", word.value))
        formats = [
            [format_of(TEMPLATES[disk.dev_type], disk.params) for disk in disks] for disks in (self.removed, new)
        ]
        self.told.extend(("format", each) for each in sorted({*formats[1]}) if formats[0] != formats[1])

    def _like(
        self, op: OpInstanceSetParams, word: DiskTemplate, template: Template, index: int, disk: Disk
    ) -> DiskPlan:
        """A new disk like an old one."""
        view = self.view
        exclusive = is_exclusive(view.cluster, view.group)
        asked: Mapping[str, Any] = {
            **op.ext_params,
            "size": disk.size,
            "mode": disk.mode or READ_WRITE,
            **({"name": disk.name} if disk.name else {}),
            **({"spindles": disk.spindles} if disk.spindles is not None and exclusive else {}),
        }
        where = place_of(op, view.cluster, template, view.instance.name, asked)
        plan = plan_disk(f"disk/{index}", asked, word, where, view.cluster)
        check_format(f"disk/{index}", template, plan.params, view.instance.hypervisor)
        params = fill_diskparams(view.cluster, view.group)[word]
        return attrs.evolve(plan, children=children_of(plan, params, view.cluster))

    async def check(self) -> None:
        """@raise OpPrereqError: the instance runs, something is left of its machine, or its node is offline."""
        check_node_online(self.view, "change disk template")
        await check_gone(self.parts.nodes, self.view, "change disk template")


def copying(after: InstanceView) -> PlannedStep:
    """The step in which the new disks are filled."""
    return PlannedStep(COPY, tuple(node.name for node in after.nodes.values()), (f"instance {after.instance.name}",))


async def copy(parts: Parts, before: InstanceView, after: InstanceView, *, wait: bool) -> None:
    """Fill the new disks, which have been created; then they are down again, and so are the old ones.

    @param wait: whether mirrors among the new ones are to be alike on both nodes then.
    @raise OpExecError: it did not work, and nothing is changed.
    """
    old, new = before.disk_template.value, after.disk_template.value
    copying = {
        index: f"- copying data from disk {index} ({old}), size {shown(disk.size)}"
        for index, disk in enumerate(before.disks)
    }
    source, target = DiskEnd(SENDING, before, aside=True), DiskEnd(RECEIVING, after, aside=True)
    carrying = Carrying(parts, before.instance.name, list(copying), source, target, copying=copying)
    undos = [*shutdowns(before), *shutdowns(after), *await carrying.prepare()]
    async with parts.step(COPY, *undos):
        parts.info(f"Populating the new empty disks of type '{new}'...")
        await assemble_elsewhere(parts.nodes, before, parts.warn)
        await assemble_elsewhere(parts.nodes, after, parts.warn)
        await carrying.carry()
        parts.info(f"Detaching old disks ({old}) from the instance and removing them from cluster config")
        parts.info(f"Adding new disks ({new}) to cluster config and attaching them to the instance")
        if wait:
            await wait_for_sync(parts.nodes, after, parts.info, parts.pause)
        for view in (before, after):
            await shutdown_disks(parts.nodes, view, parts.warn)
