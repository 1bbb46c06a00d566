"""What instances a cluster or group admits: sizes between bounds, disk templates, and ratios."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import asdict, replace

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.base import Wire
from ganeti_tx.model.decoding import from_builtins
from ganeti_tx.model.disk_templates import WITHOUT_DISKS
from ganeti_tx.model.enums import DiskTemplate


class ISpec(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """Sizes of an instance; memory and disk in MiB."""

    memory_size: int
    cpu_count: int
    disk_count: int
    disk_size: int
    nic_count: int
    spindle_use: int


class MinMax(Wire, frozen=True, kw_only=True):
    """One pair of bounds, both included."""

    min: ISpec
    max: ISpec


MINIMUM = ISpec(memory_size=128, cpu_count=1, disk_count=1, disk_size=1024, nic_count=1, spindle_use=1)
MAXIMUM = ISpec(memory_size=32768, cpu_count=8, disk_count=16, disk_size=1048576, nic_count=8, spindle_use=12)
STANDARD = MINIMUM


class InstancePolicy(Wire, frozen=True, kw_only=True, rename="kebab", omit_defaults=False):
    """A complete policy, as a cluster has it: an instance must fit one of the `minmax` pairs."""

    minmax: tuple[MinMax, ...] = (MinMax(min=MINIMUM, max=MAXIMUM),)
    std: ISpec = STANDARD
    disk_templates: tuple[DiskTemplate, ...] = tuple(DiskTemplate)
    vcpu_ratio: float = 4.0
    spindle_ratio: float = 32.0


class PartialPolicy(Wire, frozen=True, kw_only=True, rename="kebab"):
    """What a node group sets itself; None leaves it to the cluster."""

    minmax: tuple[MinMax, ...] | None = None
    std: ISpec | None = None
    disk_templates: tuple[DiskTemplate, ...] | None = None
    vcpu_ratio: float | None = None
    spindle_ratio: float | None = None


def fill(policy: InstancePolicy, own: PartialPolicy) -> InstancePolicy:
    """A cluster's policy with what a group sets itself in place of the cluster's."""
    return replace(policy, **{name: value for name, value in asdict(own).items() if value is not None})


def check_ipolicy(given: Mapping[str, object], path: str = "ipolicy") -> PartialPolicy:
    """The settings as a policy. @raise ParameterError: the path of what is unknown, missing or wrong."""
    policy = from_builtins(dict(given), PartialPolicy, ParameterError, path)
    for name in ("minmax", "disk_templates"):
        if getattr(policy, name) == ():
            raise ParameterError(f"{path}.{name.replace('_', '-')}: must not be empty")
    for name in ("vcpu_ratio", "spindle_ratio"):
        ratio = getattr(policy, name)
        if ratio is not None and not 1 <= ratio < float("inf"):
            raise ParameterError(f"{path}.{name.replace('_', '-')}: must be at least 1, got {ratio}")
    for index, bounds in enumerate(policy.minmax or ()):
        check_order(bounds, f"{path}.minmax[{index}]")
    return policy


def check_standard(policy: InstancePolicy, path: str = "ipolicy") -> None:
    """The usual instance fits one pair of bounds. @raise ParameterError: it does not; the sizes that miss the nearest."""
    usual = wire_names(policy.std)

    def missed(bounds: MinMax) -> list[str]:
        low, high = wire_names(bounds.min), wire_names(bounds.max)
        return [
            f"{path}.std.{key}: must be between {low[key]} and {high[key]}, got {value}"
            for key, value in usual.items()
            if not low[key] <= value <= high[key]
        ]

    if faults := min((missed(bounds) for bounds in policy.minmax), key=len):
        raise ParameterError("; ".join(faults))


def check_order(bounds: MinMax, path: str) -> None:
    """@raise ParameterError: a lower bound is negative or above its upper one."""
    high = wire_names(bounds.max)
    for key, low in wire_names(bounds.min).items():
        if not 0 <= low <= high[key]:
            raise ParameterError(f"{path}.min.{key}: must be between 0 and the maximum {high[key]}, got {low}")


class InstanceSpecs(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of one instance that a policy judges; memory and disks in MiB. `spindle_use`: None is not judged."""

    memory_size: int
    cpu_count: int
    disk_sizes: tuple[int, ...]
    nic_count: int
    spindle_use: int | None
    disk_templates: tuple[DiskTemplate, ...]


def violations(policy: InstancePolicy, specs: InstanceSpecs) -> list[str]:
    """Why an instance does not fit a policy, a line a reason; empty when it fits.

    With several pairs of bounds the reasons are those of the pair that is missed by the fewest.
    """
    templates = [
        f"Disk template {template.value} is not allowed (allowed templates {', '.join(sorted(policy.disk_templates))})"
        for template in sorted(set(specs.disk_templates))
        if template not in policy.disk_templates
    ]
    return templates + min((out_of_bounds(bounds, specs) for bounds in policy.minmax), key=len, default=[])


def out_of_bounds(bounds: MinMax, specs: InstanceSpecs) -> list[str]:
    """The sizes that lie outside one pair of bounds."""
    low, high = wire_names(bounds.min), wire_names(bounds.max)
    return [
        f"{name} value {value} is not in range [{low[key]}, {high[key]}]"
        for key, name, value in sizes(specs)
        if not low[key] <= value <= high[key]
    ]


def sizes(specs: InstanceSpecs) -> list[tuple[str, str, int]]:
    """Each size as (key of the bounds, name for people, value). An instance without disks has no disk sizes."""
    diskless = specs.disk_templates == (WITHOUT_DISKS,)
    return [
        ("memory-size", "memory-size", specs.memory_size),
        ("cpu-count", "cpu-count", specs.cpu_count),
        *([] if diskless else [("disk-count", "disk-count", len(specs.disk_sizes))]),
        *(("disk-size", f"disk-size/{index}", size) for index, size in enumerate(specs.disk_sizes)),
        ("nic-count", "nic-count", specs.nic_count),
        *([] if specs.spindle_use is None else [("spindle-use", "spindle-use", specs.spindle_use)]),
    ]


def wire_names(spec: ISpec) -> Mapping[str, int]:
    """A spec by its keys on the wire."""
    return {key.replace("_", "-"): value for key, value in asdict(spec).items()}
