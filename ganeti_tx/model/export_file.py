"""The file that describes an exported instance, config.ini (reference: export.json, config_ini)."""

import io
import re
from collections.abc import Mapping, MutableMapping, Sequence
from configparser import Error, RawConfigParser

from attrs import frozen
from msgspec import DecodeError, json

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.disk import MAX_DISKS
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.hypervisors import CLUSTER_ONLY
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.params.backend import BackendParams
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.model.params.os import fitting
from ganeti_tx.model.versions import EXPORT_VERSION

EXPORT, INSTANCE, HYPERVISOR, BACKEND, OS, OS_PRIVATE, EXACT = SECTIONS = (
    "export", "instance", "hypervisor", "backend", "os", "os_private", "exact",
)  # fmt: skip
#: In the section of the instance, with a blank between, and exactly where one of them has a blank itself.
TAGS = "tags"
#: What stands for nothing.
NOTHING = "None"
#: How the directory is called in which the export of an instance is put together, after its name.
BUILDING = ".new"
MAX_NICS = 8
#: Characters that are told of what is wrong.
TOLD = 200
#: What is said of an interface, besides its number.
NIC_KEYS = ("mac", "ip", "network", "name", "link", "mode", "vlan")

Section = Mapping[str, str]


class ExportParser(RawConfigParser):
    """Keys keep their case. Lines are looked at once: Python's own expression takes a long run of blanks apart in every way."""

    OPTCRE = re.compile(r"(?P<option>[^=:]*)(?P<vi>[=:])\s*(?P<value>.*)$")

    def optionxform(self, optionstr: str) -> str:
        """As it stands."""
        return optionstr


@frozen
class Dump:
    """What an export has of a disk: the file, and the SHA-256 of what is in it, empty where nobody has told it.

    @ivar index: the disk's place in the instance that was exported.
    """

    index: int
    file: str
    sha256: str = ""


@frozen
class ExportedDisk:
    """A disk that was exported; `size` is MiB; without `dump` there is nothing to fill it with.

    @ivar format: how its bytes lay in its file; in the dump they are as the guest sees them.
    """

    size: int
    name: str | None = None
    dump: str | None = None
    sha256: str = ""
    format: str = RAW


@frozen
class Exported:
    """What an export tells of its instance. Parameters are texts, of which none stands for nothing.

    @ivar uuid: of the instance that was exported; those that Ganeti writes do not tell it.
    """

    name: str
    os: str
    hypervisor: str | None
    disk_template: str | None
    tags: Sequence[str]
    disks: Sequence[ExportedDisk]
    nics: Sequence[Section]
    hvparams: Section
    beparams: Section
    osparams: Section
    osparams_private: Section
    uuid: str | None = None


def written(instance: InstanceSpec, dumps: Sequence[Dump], now: float) -> str:
    """The text for an instance of which these disks were exported. Has its private parameters, and no secret ones."""
    config = ExportParser()
    params = {
        HYPERVISOR: {key: value for key, value in instance.hvparams.items() if key not in CLUSTER_ONLY},
        BACKEND: instance.beparams,
        OS: instance.osparams,
        OS_PRIVATE: instance.osparams_private,
    }
    about = {
        "version": EXPORT_VERSION,
        "timestamp": int(now),
        "source": instance.primary_node,
        "os": instance.os,
        "compression": "none",
    }
    config[EXPORT] = texts(about)
    config[INSTANCE] = texts(of_instance(instance) | of_nics(instance) | of_disks(instance, dumps))
    for section, values in params.items():
        config[section] = texts(dict(sorted(values.items())))
    exact: dict[str, Section | Sequence[str]] = {name: kept_exactly(config[name]) for name in (OS, OS_PRIVATE)}
    exact[TAGS] = sorted(instance.tags) if any(" " in tag for tag in instance.tags) else ()
    if any(exact.values()):
        config[EXACT] = {name: json.encode(values).decode() for name, values in exact.items() if values}
    text = io.StringIO()
    config.write(text)
    return text.getvalue()


def kept_exactly(section: MutableMapping[str, str]) -> Section:
    """The parameters that would not come back as they are: lines lose their indentation, and those that begin with # are left out.

    Those whose names the file cannot hold are taken out of the section.
    """
    found = {key: value for key, value in section.items() if value == NOTHING or as_read(key, value) != value}
    for key in found:
        if as_read(key, "") is None:
            del section[key]
    return found


def as_read(key: str, value: str) -> str | None:
    """What comes back of a parameter; None if nothing does, or something else."""
    config, again, text = ExportParser(), ExportParser(), io.StringIO()
    config[OS] = {key: value}
    config.write(text)
    try:
        again.read_string(text.getvalue())
    except Error:
        return None
    return again[OS][key] if again.sections() == [OS] and list(again[OS]) == [key] else None


def with_exact(found: Mapping[str, Section], name: str) -> Section:
    """The parameters of a section as they were, but for those that somebody has changed in the file since.

    @raise ParameterError: what only ours reads is damaged.
    """
    section = found[name]
    try:
        exact = fitting(json.decode(found[EXACT].get(name, "{}"), type=dict[str, str]), name)
    except (DecodeError, RecursionError):
        raise ParameterError(f"{name} in section {EXACT} is damaged") from None
    back = {key: value for key, value in exact.items() if section.get(key) == as_read(key, value)}
    return {**without_nothing(section), **back}


def texts(values: Mapping[str, object]) -> dict[str, str]:
    """As Python shows them."""
    return {key: str(value) for key, value in values.items()}


def of_instance(instance: InstanceSpec) -> dict[str, object]:
    """What is said of the instance as a whole. Only ours reads the uuid."""
    return {
        "name": instance.name,
        "uuid": instance.uuid,
        "maxmem": instance.beparams["maxmem"],
        "minmem": instance.beparams["minmem"],
        "memory": instance.beparams["maxmem"],
        "vcpus": instance.beparams["vcpus"],
        "disk_template": instance.disk_template,
        "hypervisor": instance.hypervisor,
        TAGS: " ".join(sorted(instance.tags)),
    }


def of_nics(instance: InstanceSpec) -> dict[str, object]:
    """Each interface, and how many there are."""
    said: dict[str, object] = {
        f"nic{index}_{key}": getattr(nic, key) for index, nic in enumerate(instance.nics) for key in NIC_KEYS
    }
    return {**said, "nic_count": len(instance.nics)}


def of_disks(instance: InstanceSpec, dumps: Sequence[Dump]) -> dict[str, object]:
    """Each disk that was exported, without a gap, and how many these are. Only ours reads checksums and formats."""
    said: dict[str, object] = {}
    for number, dump in enumerate(dumps):
        disk = instance.disks[dump.index]
        said[f"disk{number}_ivname"] = f"disk/{dump.index}"
        said[f"disk{number}_dump"] = dump.file
        said[f"disk{number}_size"] = disk.size
        said[f"disk{number}_name"] = disk.name
        if dump.sha256:
            said[f"disk{number}_sha256"] = dump.sha256
        if disk.format != RAW:
            said[f"disk{number}_format"] = disk.format
    return {**said, "disk_count": len(dumps)}


def read_export(text: str) -> Exported:
    """What an export tells. @raise ParameterError: it is none, or of another version."""
    config = ExportParser()
    try:
        config.read_string(text)
    except Error as error:
        raise ParameterError(fault_of(error)) from None
    found: dict[str, Section] = {name: dict(config[name]) if name in config else {} for name in SECTIONS}
    if not found[EXPORT] or not found[INSTANCE]:
        raise ParameterError("Export info file doesn't have the required fields")
    about, instance = found[EXPORT], found[INSTANCE]
    if about.get("version") != str(EXPORT_VERSION):
        raise ParameterError(f"Wrong export version {about.get('version')!s:.{TOLD}} (wanted {EXPORT_VERSION})")
    return Exported(
        name=needed(instance, "name"),
        os=needed(about, "os"),
        hypervisor=some(instance.get("hypervisor")),
        disk_template=some(instance.get("disk_template")),
        tags=tags_of(found),
        disks=disks_of(instance),
        nics=nics_of(instance),
        hvparams=without_nothing(found[HYPERVISOR]),
        beparams=beparams_of(found[BACKEND], instance),
        osparams=with_exact(found, OS),
        osparams_private=with_exact(found, OS_PRIVATE),
        uuid=some(instance.get("uuid")),
    )


def tags_of(found: Mapping[str, Section]) -> Sequence[str]:
    """As they were, unless somebody has changed them in the file since. @raise ParameterError: what only ours reads is damaged."""
    words = (some(found[INSTANCE].get(TAGS)) or "").split()
    try:
        exact = json.decode(found[EXACT].get(TAGS, "[]"), type=list[str])
    except (DecodeError, RecursionError):
        raise ParameterError(f"{TAGS} in section {EXACT} is damaged") from None
    return exact if " ".join(exact).split() == words else words


def fault_of(error: Error) -> str:
    """What is wrong with a file, and where; what stands in that line may be private."""
    [first, *_] = str(error).splitlines()
    lines = [str(number) for number, _ in getattr(error, "errors", ())[:1]]
    return ", line ".join([first[:TOLD], *lines])


def some(text: str | None) -> str | None:
    """A text that stands for something."""
    return None if text in (None, "", NOTHING) else text


def without_nothing(section: Section) -> Section:
    """Those that have a value; it may be empty."""
    return {key: value for key, value in section.items() if value != NOTHING}


def needed(section: Section, key: str) -> str:
    """@raise ParameterError: it is not there."""
    if (value := some(section.get(key))) is None:
        raise ParameterError(f"Export info file doesn't have the required fields: {key} is missing")
    return value


def disks_of(instance: Section) -> list[ExportedDisk]:
    """Those that are there, in order. @raise ParameterError: a size is none."""
    disks = []
    for prefix in (f"disk{number}" for number in range(MAX_DISKS)):
        if (size := instance.get(f"{prefix}_size")) is None:
            continue
        if not (size.isascii() and size.isdigit() and 0 < len(size) <= 12 and int(size) > 0):
            raise ParameterError(f"{prefix}_size: not a size in MiB: {size[:100]!r}")
        dump = some(instance.get(f"{prefix}_dump"))
        disks.append(
            ExportedDisk(
                size=int(size),
                name=some(instance.get(f"{prefix}_name")),
                dump=None if dump == "False" else dump,
                sha256=some(instance.get(f"{prefix}_sha256")) or "",
                format=some(instance.get(f"{prefix}_format")) or RAW,
            )
        )
    return disks


def nics_of(instance: Section) -> list[Section]:
    """What is said of each interface that has an address."""
    prefixes = [f"nic{number}_" for number in range(MAX_NICS) if f"nic{number}_mac" in instance]
    given = [{key: some(instance.get(f"{prefix}{key}")) for key in NIC_KEYS} for prefix in prefixes]
    return [{key: value for key, value in nic.items() if value is not None} for nic in given]


def beparams_of(backend: Section, instance: Section) -> Section:
    """The backend parameters; exports of old versions have them with the instance."""
    if backend:
        return without_nothing(backend)
    return without_nothing({key: value for key, value in instance.items() if key in types_of(BackendParams)})
