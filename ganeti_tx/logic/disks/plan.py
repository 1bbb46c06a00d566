"""The disks that a request asks for, checked before anything is made."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Literal

import attrs
import msgspec

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.model import sizes
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import MAX_DISKS
from ganeti_tx.model.disk_template import ADOPT, COMMON_KEYS, Adoption, Child, Place, Template
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, FileDriver
from ganeti_tx.model.names import check_device_names
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.model.params.disk import check_of_provider, check_params, provider_params
from ganeti_tx.model.params.kinds import NONE, to_int, to_size, types_of
from ganeti_tx.model.pools import pool_of
from ganeti_tx.model.volume_names import volume_group_fault
from ganeti_tx.rpc.calls.node import StorageUnit

#: The word for the size that the cluster has for new disks.
AUTO = "auto"
READ_ONLY: Literal["ro"] = "ro"
READ_WRITE: Literal["rw"] = "rw"


@attrs.frozen
class DiskPlan:
    """One disk that can be made, and those that it is made of; the name of each of these ends with its `suffix`.

    @ivar params: its own, and those of its provider.
    @ivar adopt: what it is made of that is there already; its size is what that has, once nodes have told it.
    """

    template: DiskTemplate
    size: int
    mode: Literal["ro", "rw"]
    name: str | None
    spindles: int | None
    place: Place
    children: "tuple[DiskPlan, ...]" = ()
    suffix: str = ""
    params: Params = attrs.field(factory=dict)
    adopt: str | None = None


def plan_disks(
    op: OpInstanceCreate, cluster: Cluster, instance_name: str, available: Collection[DiskTemplate]
) -> tuple[DiskTemplate, list[DiskPlan]]:
    """Check what was asked.

    @raise OpPrereqError: the template is not enabled or not available, or something about a disk is not allowed.
    """
    word = template_of(op, cluster)
    check_template(word, cluster, available)
    template = TEMPLATES[word]
    if not template.in_files and (op.file_driver is not None or op.file_storage_dir is not None):
        raise OpPrereqError(f"file_driver and file_storage_dir do not go with template {word.value}", ECode.INVAL)
    if not template.has_disks and op.disks:
        raise OpPrereqError(f"template {word.value} has no disks, but {len(op.disks)} are given", ECode.INVAL)
    if template.has_disks and not 0 < len(op.disks) <= MAX_DISKS:
        raise OpPrereqError(f"{len(op.disks)} disks are given; allowed are 1 to {MAX_DISKS}", ECode.INVAL)
    plans = [
        plan_disk(f"disk/{index}", asked, word, place_of(op, cluster, template, instance_name, asked), cluster)
        for index, asked in enumerate(op.disks)
    ]
    check_device_names("disk", [plan.name for plan in plans])
    check_adoption(op, plans)
    return word, plans


def check_adoption(op: OpInstanceCreate, plans: Sequence[DiskPlan]) -> None:
    """@raise OpPrereqError: only some disks adopt what is there, two adopt the same, or data are to come from elsewhere."""
    adopted = [adopted_id(plan) for plan in plans if plan.adopt is not None]
    if not adopted:
        return
    if len(adopted) < len(plans):
        raise OpPrereqError("Either all disks are adopted or none is", ECode.INVAL)
    if op.mode is not InstanceCreateMode.CREATE:
        raise OpPrereqError(f"Disks cannot be adopted with mode {op.mode.value}; allowed is create", ECode.INVAL)
    if not TEMPLATES[plans[0].template].shared and (op.pnode_uuid or op.pnode) is None:
        raise OpPrereqError(
            "Adopted disks are on one node, which must be given; no allocator can choose it", ECode.INVAL
        )
    if twice := [each for each in adopted if adopted.count(each) > 1]:
        raise OpPrereqError(f"{twice[0][-1]} is to be adopted by two disks", ECode.INVAL)


def adopted_id(plan: DiskPlan) -> tuple[Any, ...]:
    """The logical id of what a disk adopts."""
    locate = TEMPLATES[plan.template].locate
    assert locate is not None and plan.adopt is not None
    return locate(plan.place, plan.adopt)


def template_of(op: OpInstanceCreate, cluster: Cluster) -> DiskTemplate:
    """The template asked for; where none is, the cluster's first is meant."""
    return op.disk_template or cluster.enabled_disk_templates[0]


def check_template(word: DiskTemplate, cluster: Cluster, available: Collection[DiskTemplate]) -> None:
    """@raise OpPrereqError: the template is not enabled, or cannot be made here."""
    if word not in cluster.enabled_disk_templates:
        enabled = ",".join(cluster.enabled_disk_templates)
        raise OpPrereqError(
            f"Disk template '{word.value}' is not enabled in cluster. Enabled disk templates are: {enabled}",
            ECode.INVAL,
        )
    if word not in available:
        raise OpPrereqError(
            f"disk template {word.value} is not available for new instances"
            f" (available: {', '.join(sorted(available))})",
            ECode.INVAL,
        )


def place_of(
    op: OpInstanceCreate | OpInstanceSetParams,
    cluster: Cluster,
    template: Template,
    instance_name: str,
    asked: Mapping[str, Any],
) -> Place:
    """Where a disk will be. @raise OpPrereqError: the cluster has no such place, or it would be outside of its pool."""
    chosen = asked.get(template.pool_key) if template.pool_key is not None else None
    pool = str(chosen or pool_of(template, cluster))
    if template.pool is not None and not pool:
        raise OpPrereqError(f"the cluster's {template.pool} is not set, so there is no place for disks", ECode.STATE)
    inner = PurePosixPath(op.file_storage_dir or "")
    if inner.is_absolute() or ".." in inner.parts:
        raise OpPrereqError(f"file_storage_dir {op.file_storage_dir!r} must be a path below {pool}", ECode.INVAL)
    return Place(
        pool=pool,
        directory=str(PurePosixPath(pool) / inner / instance_name),
        driver=(op.file_driver or FileDriver.LOOP).value,
        said=asked,
    )


def disk_spindles(what: str, asked: object) -> int | None:
    """How many spindles are asked for, if any. @raise OpPrereqError: that is no number of them."""
    count = to_int(asked)
    if asked not in (None, "") and (count is None or count < 0):
        raise OpPrereqError(f"{what}: not a number of spindles: {asked!r:.100}; give an integer >= 0", ECode.INVAL)
    return count


def plan_disk(what: str, asked: Mapping[str, Any], word: DiskTemplate, place: Place, cluster: Cluster) -> DiskPlan:
    """Check one disk. @raise OpPrereqError: something about it is not allowed."""
    template = TEMPLATES[word]
    if ADOPT in asked and template.adoption is Adoption.NEVER:
        raise OpPrereqError(f"Disk adoption is not supported for the '{word.value}' disk template", ECode.INVAL)
    allowed = COMMON_KEYS | template.known
    unknown = sorted(set(asked) - allowed)
    if unknown and template.provider_key is None:
        raise OpPrereqError(
            f"{what}: {unknown[0]} is not known for template {word.value}; allowed are {', '.join(sorted(allowed))}",
            ECode.INVAL,
        )
    mode = asked.get("mode", READ_WRITE)
    if mode not in (READ_ONLY, READ_WRITE):
        raise OpPrereqError(f"{what}: mode {mode!r} is not allowed; allowed are ro, rw", ECode.INVAL)
    if missing := sorted(key for key in template.needs if asked.get(key) in (None, "")):
        raise OpPrereqError(f"{what}: {missing[0]} is missing; disks of template {word.value} need it", ECode.INVAL)
    for key in sorted(template.pool_keys):
        if asked.get(key) and (fault := volume_group_fault(f"{what}: {key}", str(asked[key]))):
            raise OpPrereqError(fault, ECode.INVAL)
    name = asked.get("name")
    return DiskPlan(
        template=word,
        size=0 if ADOPT in asked else disk_size(what, asked, cluster),
        mode=READ_ONLY if mode == READ_ONLY else READ_WRITE,
        name=None if name in (None, "", NONE) else str(name),
        spindles=disk_spindles(what, asked["spindles"]) if "spindles" in asked else None,
        place=place,
        params=own_params(what, asked, template),
        adopt=adopted_place(what, asked, template),
    )


def own_params(what: str, asked: Mapping[str, Any], template: Template) -> Params:
    """Its parameters that the template declares, what stays so of it, and all that are its provider's."""
    apart = COMMON_KEYS | template.pool_keys | template.fixed.keys() | {ADOPT}
    said: Params = {
        **{key: value for key, value in asked.items() if key not in apart},
        **lasting(what, asked, template),
    }
    declared = {key: value for key, value in said.items() if key in types_of(template.params)}
    try:
        check_of_provider(provider_params(template, said), what)
        return {**said, **check_params(template, declared, what)}
    except GenericError as error:
        raise OpPrereqError(str(error), ECode.INVAL) from None


def lasting(what: str, asked: Mapping[str, Any], template: Template) -> Params:
    """What is said of it that stays so (`Template.fixed`). @raise OpPrereqError: a word that is not allowed."""
    for key, allowed in template.fixed.items():
        if asked.get(key, allowed[0]) not in allowed:
            raise OpPrereqError(
                f"{what}: {key} {asked[key]!r:.100} is not allowed; allowed are {', '.join(allowed)}", ECode.INVAL
            )
    return {key: asked[key] for key, allowed in template.fixed.items() if asked.get(key, allowed[0]) != allowed[0]}


def adopted_place(what: str, asked: Mapping[str, Any], template: Template) -> str | None:
    """What the disk is to be made of; None for a new one. @raise OpPrereqError: a size is given, or it is elsewhere."""
    if ADOPT not in asked:
        return None
    path, below = str(asked[ADOPT]), template.adoptable
    if asked.get("size"):
        raise OpPrereqError(
            f"{what}: size and adopt exclude each other; the size of what is adopted counts", ECode.INVAL
        )
    inside = below is None or (PurePosixPath(path).is_relative_to(below) and ".." not in PurePosixPath(path).parts)
    if not inside or path == below:
        raise OpPrereqError(f"{what}: {path} cannot be adopted; give a path below {below}", ECode.INVAL)
    return path if below is None else str(PurePosixPath(path))


def children_of(plan: DiskPlan, params: Params, cluster: Cluster) -> tuple[DiskPlan, ...]:
    """Those that a disk is made of. What was said of the disk chooses their pools, then its parameters, then the cluster."""
    return tuple(
        DiskPlan(
            template=DiskTemplate(child.template),
            size=plan.size if child.size is None else child.size,
            mode=READ_WRITE,
            name=None,
            spindles=None,
            place=msgspec.structs.replace(plan.place, pool=pool_of_child(child, plan.place.said, params, cluster)),
            suffix=child.suffix,
        )
        for child in TEMPLATES[plan.template].children
    )


def pool_of_child(child: Child, said: Mapping[str, Any], params: Params, cluster: Cluster) -> str:
    """The name of its pool."""
    param = params[child.pool_param] if child.pool_param is not None else None
    return str(said.get(child.pool_key) or param or pool_of(TEMPLATES[DiskTemplate(child.template)], cluster))


def disk_size(what: str, asked: Mapping[str, Any], cluster: Cluster) -> int:
    """The size in MiB; the cluster's default where none is given, or "auto" (design-2.0, device options)."""
    if asked.get("size", AUTO) == AUTO:
        if not cluster.default_disk_size:
            raise OpPrereqError(
                f"Missing size or adoption source for {what.replace('/', ' ')}; give a size, or have one for all new"
                " disks ('gnt-cluster modify --defaults disksize=SIZE')",
                ECode.INVAL,
            )
        return cluster.default_disk_size
    size = to_size(asked["size"])
    if not size:
        raise OpPrereqError(f"{what}: not a size: {asked['size']!r}; give {sizes.WANTED}", ECode.INVAL)
    return size


def space_wanted(plans: Sequence[DiskPlan]) -> list[tuple[StorageUnit, int]]:
    """How many MiB of which pools the disks take, on each of their nodes; what is adopted takes nothing more."""
    wanted: dict[tuple[str, str], int] = {}
    for part in chain.from_iterable(plan.children or (plan,) for plan in plans if plan.adopt is None):
        template = TEMPLATES[part.template]
        if template.pool is not None:
            pool = (template.storage.value, part.place.pool)
            wanted[pool] = wanted.get(pool, 0) + part.size
    return [(StorageUnit(kind, name), size) for (kind, name), size in wanted.items()]
