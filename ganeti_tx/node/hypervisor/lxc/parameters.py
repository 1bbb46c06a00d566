"""Which values of the LXC parameters make sense."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.node.hypervisor.affinity import Mask, parse_cpu_mask

#: A container has no processors of its own to pin one by one.
_DEVICE = re.compile(r"[abc] (\d+|\*):(\d+|\*) [rwm]{1,3}")
_CAPABILITY = re.compile(r"[a-z_]{1,40}")
_CGROUP = re.compile(r"[a-z_]{1,40}")
#: A line of LXC's configuration: a key of it, and a value.
_LINE = re.compile(r"lxc\.[a-z0-9._-]{1,100}[ \t]*=[^\n\r\0]{0,1000}")
MAX_TTYS = 64
MAX_TIMEOUT = 3600


def lxc_params(hvparams: Mapping[str, Any]) -> LxcParams:
    """The filled parameters with their types. @raise HypervisorError: one has the wrong type."""
    try:
        return msgspec.convert(hvparams, LxcParams)
    except msgspec.ValidationError as error:
        raise HypervisorError(f"LXC parameters: {error}")


def listed(text: str) -> list[str]:
    """What a parameter lists between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def cpus_of(params: LxcParams) -> Mask:
    """The processors that a container may use; None: all. @raise ValueError: it is no mask for the whole of one."""
    if not params.cpu_mask:
        return None
    masks = parse_cpu_mask(params.cpu_mask)
    if len(masks) != 1:
        raise ValueError(f"{params.cpu_mask!r} has {len(masks)} masks, but a container has one for all its processors")
    return masks[0]


def faults(params: LxcParams) -> Iterator[str]:
    """A line for each value that cannot be."""
    try:
        cpus_of(params)
    except ValueError as error:
        yield f"cpu_mask: {error}"
    for name, form, what in (
        ("devices", _DEVICE, "a device such as 'c 1:3 rw'"),
        ("drop_capabilities", _CAPABILITY, "a capability in small letters, without CAP_"),
        ("extra_cgroups", _CGROUP, "the name of a cgroup controller"),
        ("extra_config", _LINE, "a line such as 'lxc.arch = x86_64'"),
    ):
        for word in listed(getattr(params, name)):
            if form.fullmatch(word) is None:
                yield f"{name}: {word!r} is not {what}"
    for name, least, most in (("num_ttys", 0, MAX_TTYS), ("startup_timeout", 1, MAX_TIMEOUT)):
        if not least <= (value := getattr(params, name)) <= most:
            yield f"{name}: {value} is not between {least} and {most}"
