"""What an export says of an instance, where the request for the new one says nothing (reference: export.json, import)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.logic.disks.formats import formats_possible
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_formats import KEY
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.export_file import TOLD, Exported, ExportedDisk, Section
from ganeti_tx.model.from_elsewhere import FROM_NETWORK, FromElsewhere
from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.opcodes.bounds import check_bounds
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import NicKey
from ganeti_tx.model.params.backend import BackendParams, without_memory
from ganeti_tx.model.params.kinds import types_of

AUTO = "auto"

Warn = Callable[[str], None]


def filled(op: OpInstanceCreate, exported: Exported, name: str, cluster: Cluster, warn: Warn) -> OpInstanceCreate:
    """The request with all that was left out. @param name: of the new instance.

    @raise OpPrereqError: the export says what cannot be, or has more disks than are asked for.
    """
    check_texts(exported)
    elsewhere = FromElsewhere("the export", cluster, warn)
    hypervisor = op.hypervisor or hypervisor_of(exported, elsewhere)
    template = op.disk_template or word(DiskTemplate, "disk_template", exported.disk_template)
    given = {*op.osparams, *(op.osparams_private or {}), *(op.osparams_secret or {})}
    private = {key: Private(value) for key, value in without(exported.osparams_private, given).items()}
    return replace(
        op,
        os_type=exported.os,
        hypervisor=hypervisor,
        disk_template=template,
        disks=disks_of(op, exported, template, hypervisor, warn),
        nics=nics_of(op, exported, name, elsewhere),
        tags=op.tags or tags_of(exported, elsewhere),
        hvparams={**hvparams_of(op, exported, hypervisor, elsewhere), **op.hvparams},
        beparams=beparams_of(op, exported, warn),
        osparams={**without(exported.osparams, given), **op.osparams},
        osparams_private={**private, **(op.osparams_private or {})} or None,
    )


def check_texts(exported: Exported) -> None:
    """@raise OpPrereqError: one is longer than a request's may be, or names an OS parameter that there cannot be."""
    texts = {
        "instance_name": exported.name,
        "os_type": exported.os,
        "tags": [*exported.tags],
        "disks": [[disk.name, disk.format] for disk in exported.disks],
        "nics": [dict(nic) for nic in exported.nics],
    }
    params = {key: dict(getattr(exported, key)) for key in ("hvparams", "beparams", "osparams", "osparams_private")}
    check_bounds("export", {**texts, **params})


def word(kind: Any, key: str, value: str | None) -> Any:
    """A word of some that are known; None if it is not said. @raise OpPrereqError: it is another one."""
    if value is None or value in kind.__members__.values():
        return None if value is None else kind(value)
    raise OpPrereqError(
        f"the export has {key} {value[:100]!r}; known are {', '.join(kind)}: say which one is meant", ECode.ENVIRON
    )


def hypervisor_of(exported: Exported, elsewhere: FromElsewhere) -> Hypervisor | None:
    """That of the export. @raise OpPrereqError: a request must name it."""
    hypervisor: Hypervisor | None = word(Hypervisor, "hypervisor", exported.hypervisor)
    if hypervisor is not None:
        elsewhere.check_hypervisor(hypervisor, f"-H {hypervisor.value}")
    return hypervisor


def tags_of(exported: Exported, elsewhere: FromElsewhere) -> tuple[str, ...]:
    """In order."""
    tags = tuple(sorted(set(exported.tags)))
    elsewhere.tell_tags(tags)
    return tags


def without(section: Section, keys: set[str]) -> dict[str, str]:
    """What is not said otherwise."""
    return {key: value for key, value in section.items() if key not in keys}


def disks_of(
    op: OpInstanceCreate,
    exported: Exported,
    template: DiskTemplate | None,
    hypervisor: Hypervisor | None,
    warn: Warn,
) -> tuple[Any, ...]:
    """At least as many as were exported (design-2.0, "The Scripts")."""
    found = exported.disks
    wanted: tuple[Any, ...] = op.disks
    if not wanted and (template is None or TEMPLATES[template].has_disks):
        formats = formats_of(found, template, hypervisor, warn)
        wanted = tuple(
            {"size": disk.size, **({"name": disk.name} if disk.name else {}), **how}
            for disk, how in zip(found, formats, strict=True)
        )
        if not wanted:
            raise OpPrereqError(f"the export of {exported.name} has no disks; say which ones are meant", ECode.INVAL)
    if len(wanted) < len(found):
        raise OpPrereqError(
            f"the export of {exported.name} has {len(found)} disks, but the instance is to have {len(wanted)}; it"
            " needs at least as many",
            ECode.INVAL,
        )
    return wanted


def formats_of(
    disks: Sequence[ExportedDisk], template: DiskTemplate | None, hypervisor: Hypervisor | None, warn: Warn
) -> list[dict[str, str]]:
    """What is said of how each disk lies in its file: as before, if the new instance can have that, else as it is."""
    possible = frozenset({RAW})
    if template is not None and hypervisor is not None:
        possible = formats_possible(TEMPLATES[template], hypervisor)
    for index, disk in enumerate(disks):
        if disk.format not in possible:
            warn(
                f"disk/{index} had the format {disk.format!r:.{TOLD}} when it was exported, and becomes {RAW}, as the new"
                f" instance's disks can be {', '.join(sorted(possible))} only"
            )
    return [{KEY: disk.format} if disk.format in possible - {RAW} else {} for disk in disks]


def nics_of(op: OpInstanceCreate, exported: Exported, name: str, elsewhere: FromElsewhere) -> tuple[Any, ...]:
    """As they were; of those that are given, one that leaves its MAC address open keeps it with the instance's name."""
    if not op.nics:
        nics = () if op.no_nics else tuple(map(nic_of, exported.nics))
        for index, nic in enumerate(nics):
            if NicKey.NETWORK not in nic:  # what a network says for it is told anyway when it is made
                elsewhere.tell_place(index, nic)
        return nics
    if name != exported.name:
        return op.nics
    former = [nic.get("mac") for nic in exported.nics]
    return tuple(
        {**nic, NicKey.MAC: former[index]} if index < len(former) and nic.get(NicKey.MAC) == AUTO else nic
        for index, nic in enumerate(op.nics)
    )


def nic_of(nic: Section) -> Mapping[NicKey, str]:
    """One as a request says it."""
    left_out = FROM_NETWORK if "network" in nic else ()
    return {NicKey(key): value for key, value in nic.items() if key not in left_out}


def hvparams_of(
    op: OpInstanceCreate, exported: Exported, hypervisor: Hypervisor | None, elsewhere: FromElsewhere
) -> Mapping[str, Any]:
    """Those of its hypervisor; if it gets another one they mean nothing."""
    if hypervisor is None or exported.hypervisor != hypervisor.value:
        return {}
    known = without(known_hvparams(exported, hypervisor, elsewhere.warn), {*op.hvparams})
    return elsewhere.hvparams(known, hypervisor, exported.os, f"-H {hypervisor.value}:")


def known_hvparams(exported: Exported, hypervisor: Hypervisor, warn: Warn) -> Section:
    """Those that an instance may have here."""
    types = types_of(HYPERVISORS[hypervisor].params)
    unknown = sorted(key for key in exported.hvparams if key not in types)
    if unknown:
        warn(f"hypervisor parameters of the export are not known here, and left out: {', '.join(unknown):.{TOLD}}")
    return {key: value for key, value in exported.hvparams.items() if key in types and key not in CLUSTER_ONLY}


def beparams_of(op: OpInstanceCreate, exported: Exported, warn: Warn) -> Mapping[str, Any]:
    """With those that are given, of which memory may be one. @raise OpPrereqError: these contradict one another."""
    types = types_of(BackendParams)
    if unknown := sorted(key for key in exported.beparams if key not in types):
        warn(f"backend parameters of the export are not known here, and left out: {', '.join(unknown):.{TOLD}}")
    try:
        given = without_memory(op.beparams)
    except GenericError as error:
        raise OpPrereqError(str(error), ECode.INVAL) from None
    return {**{key: value for key, value in exported.beparams.items() if key in types}, **given}
