"""The disks that a request asks for: checked first, made with their names later, then created on their node."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

import attrs

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.rollback import Rollback
from ganeti_tx.model import sizes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate, FileDriver
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.params.kinds import NONE, to_int, to_size
from ganeti_tx.rpc.calls.disk import BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.calls.node import StorageUnit
from ganeti_tx.rpc.interfaces import INodeRpc, NodeUnreachableError, RpcError

MAX_DISKS = 16
FILES = frozenset({DiskTemplate.FILE, DiskTemplate.SHAREDFILE})
#: The templates whose disks can be made here.
MADE = frozenset({*FILES, DiskTemplate.PLAIN, DiskTemplate.DISKLESS})
DEFAULT_VG = "xenvg"
KNOWN = frozenset({"size", "mode", "name", "spindles"})
#: What is said of a disk, by template, besides what all know.
MORE = {DiskTemplate.PLAIN: frozenset({"vg"})}
READ_ONLY: Literal["ro"] = "ro"
READ_WRITE: Literal["rw"] = "rw"


@attrs.frozen
class DiskPlan:
    """One disk that can be made; `place` is the directory or the volume group that will hold it."""

    template: DiskTemplate
    size: int
    mode: Literal["ro", "rw"]
    name: str | None
    spindles: int | None
    driver: str
    place: str


def plan_disks(op: OpInstanceCreate, cluster: Cluster, instance_name: str) -> tuple[DiskTemplate, list[DiskPlan]]:
    """Judge what was asked; without a template the cluster's first is meant.

    @raise OpPrereqError: the template is not enabled or not available, or something about a disk is not allowed.
    """
    template = op.disk_template or cluster.enabled_disk_templates[0]
    check_template(template, cluster)
    if template not in FILES and (op.file_driver is not None or op.file_storage_dir is not None):
        raise OpPrereqError(f"file_driver and file_storage_dir do not go with template {template.value}", ECode.INVAL)
    if template is DiskTemplate.DISKLESS and op.disks:
        raise OpPrereqError(f"template diskless has no disks, but {len(op.disks)} are given", ECode.INVAL)
    if template is not DiskTemplate.DISKLESS and not 0 < len(op.disks) <= MAX_DISKS:
        raise OpPrereqError(f"{len(op.disks)} disks are given; allowed are 1 to {MAX_DISKS}", ECode.INVAL)
    place = files_place(op, cluster, template, instance_name) if template in FILES else ""
    driver = (op.file_driver or FileDriver.LOOP).value
    return template, [
        plan_disk(f"disk/{index}", asked, template, place or str(asked.get("vg") or default_vg(cluster)), driver)
        for index, asked in enumerate(op.disks)
    ]


def default_vg(cluster: Cluster) -> str:
    """The volume group for disks that name none."""
    return cluster.volume_group_name or DEFAULT_VG


def check_template(template: DiskTemplate, cluster: Cluster) -> None:
    """@raise OpPrereqError: the template is not enabled, or cannot be made here."""
    if template not in cluster.enabled_disk_templates:
        enabled = ", ".join(cluster.enabled_disk_templates)
        raise OpPrereqError(
            f"disk template {template.value} is not enabled in this cluster (enabled: {enabled})", ECode.INVAL
        )
    if template not in MADE:
        raise OpPrereqError(
            f"disk template {template.value} is not available for new instances (available: {', '.join(sorted(MADE))})",
            ECode.INVAL,
        )


def files_place(op: OpInstanceCreate, cluster: Cluster, template: DiskTemplate, instance_name: str) -> str:
    """The directory of an instance's disks, below the cluster's own directory for the template."""
    root = cluster.file_storage_dir if template is DiskTemplate.FILE else cluster.shared_file_storage_dir
    if not root:
        raise OpPrereqError(f"the cluster has no directory for template {template.value}", ECode.STATE)
    inner = PurePosixPath(op.file_storage_dir or "")
    if inner.is_absolute() or ".." in inner.parts:
        raise OpPrereqError(f"file_storage_dir {op.file_storage_dir!r} must be a path below {root}", ECode.INVAL)
    return str(PurePosixPath(root) / inner / instance_name)


def plan_disk(what: str, asked: Mapping[str, Any], template: DiskTemplate, place: str, driver: str) -> DiskPlan:
    """Judge one disk."""
    allowed = KNOWN | MORE.get(template, frozenset())
    unknown = sorted(set(asked) - allowed)
    if unknown:
        raise OpPrereqError(
            f"{what}: {unknown[0]} is not known for template {template.value}; allowed are {', '.join(sorted(allowed))}",
            ECode.INVAL,
        )
    mode = asked.get("mode", READ_WRITE)
    if mode not in (READ_ONLY, READ_WRITE):
        raise OpPrereqError(f"{what}: mode {mode!r} is not allowed; allowed are ro, rw", ECode.INVAL)
    name = asked.get("name")
    return DiskPlan(
        template=template,
        size=disk_size(what, asked),
        mode=READ_ONLY if mode == READ_ONLY else READ_WRITE,
        name=None if name in (None, "", NONE) else str(name),
        spindles=to_int(asked["spindles"]) if "spindles" in asked else None,
        driver=driver,
        place=place,
    )


def disk_size(what: str, asked: Mapping[str, Any]) -> int:
    """The size in MiB."""
    if "size" not in asked:
        raise OpPrereqError(f"{what}: size is missing", ECode.INVAL)
    size = to_size(asked["size"])
    if not size:
        raise OpPrereqError(f"{what}: not a size: {asked['size']!r}; give {sizes.WANTED}", ECode.INVAL)
    return size


def space_wanted(cluster: Cluster, plans: Sequence[DiskPlan]) -> list[tuple[StorageUnit, int]]:
    """How many MiB of which pools the disks take."""
    wanted: dict[tuple[str, str], int] = {}
    for plan in plans:
        if plan.template is DiskTemplate.PLAIN:
            pool = ("lvm-vg", plan.place)
        else:
            shared = plan.template is DiskTemplate.SHAREDFILE
            pool = (plan.template.value, cluster.shared_file_storage_dir if shared else cluster.file_storage_dir)
        wanted[pool] = wanted.get(pool, 0) + plan.size
    return [(StorageUnit(kind, name), size) for (kind, name), size in wanted.items()]


async def make_disks(config: IConfig, plans: Sequence[DiskPlan], node_uuid: str) -> tuple[Disk, ...]:
    """The disks, each with a uuid, and a name on its node that nothing else has."""
    return tuple([make_disk(plan, index, await config.generate_uuid(), node_uuid) for index, plan in enumerate(plans)])


def make_disk(plan: DiskPlan, index: int, uuid: str, node_uuid: str) -> Disk:
    """One disk."""
    name = f"{uuid}.{plan.template.value}.disk{index}"
    in_files = plan.template in FILES
    return Disk(
        serial_no=1,
        uuid=uuid,
        dev_type=plan.template,
        logical_id=(plan.driver, f"{plan.place}/{name}") if in_files else (plan.place, name),
        size=plan.size,
        iv_name=f"disk/{index}",
        mode=plan.mode,
        nodes=() if plan.template is DiskTemplate.SHAREDFILE else (node_uuid,),
        name=plan.name,
        spindles=plan.spindles,
    )


async def create_disks(nodes: INodeRpc, target: InstanceView, rollback: Rollback) -> None:
    """Create every disk on the primary node; each is removed again if something fails later. @raise OpExecError."""
    for spec in target.disk_specs():
        removal = BlockdevRemove(disk=spec)
        try:
            await nodes.call(target.primary, BlockdevCreate(disk=spec, owner=target.instance.name))
        except RpcError as error:
            if isinstance(error, NodeUnreachableError):  # it may have been created all the same
                rollback.undo(nodes.call, target.primary, removal)
            raise OpExecError(
                f"could not create disk/{spec.index} of instance {target.instance.name}: {error}"
            ) from None
        rollback.undo(nodes.call, target.primary, removal)
