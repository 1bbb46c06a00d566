"""The options of a cluster's instance policy to the policy's own form."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.options import Option
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.model.params.ipolicy import InstancePolicy

Policy = dict[str, Any]
#: Destination of each --specs-* option to the key of the policy it is about.
_SPLIT = {
    "ispecs_cpu_count": "cpu-count",
    "ispecs_disk_count": "disk-count",
    "ispecs_disk_size": "disk-size",
    "ispecs_mem_size": "memory-size",
    "ispecs_nic_count": "nic-count",
}
_DEFAULT_POLICY: Policy = msgspec.to_builtins(InstancePolicy())
_SIZES = ("disk-size", "memory-size")


def policy_of(options: Parsed) -> Policy:
    """The policy, as far as it was given; specifications are completed by what clusters have by default.

    @raise UsageError: the same bounds were given in two ways.
    """
    split = _split_specs(options)
    if split and (options.ipolicy_bounds_specs or options.ipolicy_std_specs):
        raise UsageError("--specs-* cannot be used beside --ipolicy-bounds-specs and --ipolicy-std-specs")
    given = {
        "minmax": [_completed(bounds) for bounds in _bounds(options.ipolicy_bounds_specs) or _split_bounds(split)],
        "std": _completed_std(_specs(options.ipolicy_std_specs or {}) or _values_of(split, "std")),
        "disk-templates": options.ipolicy_disk_templates,
        "vcpu-ratio": options.ipolicy_vcpu_ratio,
        "spindle-ratio": options.ipolicy_spindle_ratio,
    }
    return {key: value for key, value in given.items() if value not in (None, [], {}, types.DEFAULT)}


def changes_of(options: Parsed) -> Policy:
    """What changes of a policy that there is; of the usual instance a part may be given."""
    given = {
        "minmax": [_completed(bounds) for bounds in _bounds(options.ipolicy_bounds_specs)],
        "std": _specs(options.ipolicy_std_specs or {}),
        "disk-templates": options.ipolicy_disk_templates,
        "vcpu-ratio": options.ipolicy_vcpu_ratio,
        "spindle-ratio": options.ipolicy_spindle_ratio,
    }
    return {key: value for key, value in given.items() if value not in (None, [], {}, types.DEFAULT)}


def own_part_of(options: Parsed) -> Policy:
    """What a node group sets itself, complete as it is given; "default" leaves a part to the cluster."""
    bounds = options.ipolicy_bounds_specs
    given = {
        "minmax": types.DEFAULT if bounds == [{types.DEFAULT: {}}] else _bounds(bounds),
        "disk-templates": _unless_default(options.ipolicy_disk_templates),
        "vcpu-ratio": options.ipolicy_vcpu_ratio,
        "spindle-ratio": options.ipolicy_spindle_ratio,
    }
    return {key: value for key, value in given.items() if value not in (None, [])}


def _unless_default(words: list[str] | None) -> list[str] | str | None:
    return types.DEFAULT if words == [types.DEFAULT] else words


def _completed(bounds: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    usual = _DEFAULT_POLICY["minmax"][0]
    return {bound: {**usual[bound], **bounds[bound]} for bound in ("min", "max")}


def _completed_std(std: Mapping[str, Any]) -> dict[str, Any]:
    return {**_DEFAULT_POLICY["std"], **std} if std else {}


def _split_specs(options: Parsed) -> dict[str, dict[str, Any]]:
    """What each --specs-* option says: by key of the policy, its min, max and std."""
    found = {}
    for dest, key in _SPLIT.items():
        table = types.ISPEC_SIZE if key in _SIZES else types.ISPEC
        if given := getattr(options, dest):
            found[key] = types.typed(given, table, f"{key} specification")
    return found


def _values_of(split: Mapping[str, Mapping[str, Any]], bound: str) -> dict[str, Any]:
    return {key: values[bound] for key, values in split.items() if bound in values}


def _split_bounds(split: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    bounds = {bound: _values_of(split, bound) for bound in ("min", "max")}
    return [bounds] if any(bounds.values()) else []


def _bounds(given: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    for bounds in given or ():
        if set(bounds) != {"min", "max"}:
            raise UsageError(f"--ipolicy-bounds-specs: each pair wants min:... and max:..., got {', '.join(bounds)}")
    return [{bound: _specs(values) for bound, values in bounds.items()} for bounds in given or ()]


def _specs(values: Mapping[str, Any]) -> dict[str, Any]:
    return types.typed(values, types.ISPEC_KEYS, "instance specification")


def _split_option(flag: str, dest: str, what: str) -> Option:
    return Option((flag,), dest, f"min, max and std of the {what} of instances", "keyval", {})


OPTIONS = (
    Option(
        ("--ipolicy-bounds-specs",), "ipolicy_bounds_specs", "bounds of instances, min:KEY=VALUE,.../max:...",
        "multilistidentkeyval",
    ),
    Option(("--ipolicy-disk-templates",), "ipolicy_disk_templates", "disk templates allowed for instances", "list"),
    Option(("--ipolicy-vcpu-ratio",), "ipolicy_vcpu_ratio", "virtual CPUs allowed for each CPU", "maybefloat"),
    Option(("--ipolicy-spindle-ratio",), "ipolicy_spindle_ratio", "spindle use allowed for each spindle", "maybefloat"),
    Option(("--ipolicy-std-specs",), "ipolicy_std_specs", "the usual instance, KEY=VALUE,...", "keyval"),
    _split_option("--specs-cpu-count", "ispecs_cpu_count", "CPU count"),
    _split_option("--specs-disk-count", "ispecs_disk_count", "disk count"),
    _split_option("--specs-disk-size", "ispecs_disk_size", "disk size"),
    _split_option("--specs-mem-size", "ispecs_mem_size", "memory size"),
    _split_option("--specs-nic-count", "ispecs_nic_count", "NIC count"),
)  # fmt: skip
#: A group has no usual instance of its own.
GROUP_OPTIONS = tuple(option for option in OPTIONS if not option.dest.startswith(("ispecs_", "ipolicy_std_")))
