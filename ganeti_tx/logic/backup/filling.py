"""What an export says of an instance, where the request for the new one says nothing (reference: export.json, import)."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.export_file import TOLD, Exported, Section
from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.opcodes.bounds import check_bounds
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import NicKey
from ganeti_tx.model.params.backend import BackendParams, without_memory
from ganeti_tx.model.params.kinds import types_of

#: What a network says for all interfaces in it.
FROM_NETWORK = ("mode", "link", "vlan")
AUTO = "auto"

Warn = Callable[[str], None]


def filled(op: OpInstanceCreate, exported: Exported, name: str, warn: Warn) -> OpInstanceCreate:
    """The request with all that was left out. @param name: of the new instance.

    @raise OpPrereqError: the export says what cannot be, or has more disks than are asked for.
    """
    check_texts(exported)
    hypervisor = op.hypervisor or word(Hypervisor, "hypervisor", exported.hypervisor)
    template = op.disk_template or word(DiskTemplate, "disk_template", exported.disk_template)
    given = {*op.osparams, *(op.osparams_private or {}), *(op.osparams_secret or {})}
    private = {key: Private(value) for key, value in without(exported.osparams_private, given).items()}
    return replace(
        op,
        os_type=exported.os,
        hypervisor=hypervisor,
        disk_template=template,
        disks=disks_of(op, exported, template),
        nics=nics_of(op, exported, name),
        tags=op.tags or tuple(sorted(set(exported.tags))),
        hvparams={**hvparams_of(exported, hypervisor, warn), **op.hvparams},
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
        "disks": [disk.name for disk in exported.disks],
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


def without(section: Section, keys: set[str]) -> dict[str, str]:
    """What is not said otherwise."""
    return {key: value for key, value in section.items() if key not in keys}


def disks_of(op: OpInstanceCreate, exported: Exported, template: DiskTemplate | None) -> tuple[Any, ...]:
    """At least as many as were exported (design-2.0, "The Scripts")."""
    found = exported.disks
    wanted: tuple[Any, ...] = op.disks
    if not wanted and (template is None or TEMPLATES[template].has_disks):
        wanted = tuple({"size": disk.size, **({"name": disk.name} if disk.name else {})} for disk in found)
        if not wanted:
            raise OpPrereqError(f"the export of {exported.name} has no disks; say which ones are meant", ECode.INVAL)
    if len(wanted) < len(found):
        raise OpPrereqError(
            f"the export of {exported.name} has {len(found)} disks, but the instance is to have {len(wanted)}; it"
            " needs at least as many",
            ECode.INVAL,
        )
    return wanted


def nics_of(op: OpInstanceCreate, exported: Exported, name: str) -> tuple[Any, ...]:
    """As they were; of those that are given, one that leaves its MAC address open keeps it with the instance's name."""
    if not op.nics:
        return () if op.no_nics else tuple(map(nic_of, exported.nics))
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


def hvparams_of(exported: Exported, hypervisor: Hypervisor | None, warn: Warn) -> Mapping[str, Any]:
    """Those of its hypervisor; if it gets another one they mean nothing."""
    if hypervisor is None or exported.hypervisor != hypervisor.value:
        return {}
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
