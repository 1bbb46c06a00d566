"""Which values of the parameters that both hypervisors have make sense."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.affinity import Mask, masks_for, parse_cpu_mask
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import Exists, XenParams

MAX_WEIGHT = 65535
MAX_PORT = 65535
#: Percent of one processor.
FULL = 100
_PREFIX = re.compile(r"sd|hd|xvd")
_SOUND = re.compile(r"[a-z0-9_]{1,40}(,[a-z0-9_]{1,40})*")


def common_faults(params: XenParams, exists: Exists) -> Iterator[str]:
    """A line for each value that is not possible on this node."""
    if not 1 <= params.cpu_weight <= MAX_WEIGHT:
        yield f"cpu_weight: {params.cpu_weight} is not between 1 and {MAX_WEIGHT}"
    if params.cpu_cap < 0:
        yield f"cpu_cap: {params.cpu_cap} is less than 0, which is for no limit"
    if not 1 <= params.migration_port <= MAX_PORT:
        yield f"migration_port: {params.migration_port} is not a TCP port"
    if _PREFIX.fullmatch(params.blockdev_prefix) is None:
        yield f"blockdev_prefix: {params.blockdev_prefix!r} is none of sd, hd, xvd"
    if params.soundhw and _SOUND.fullmatch(params.soundhw) is None:
        yield f"soundhw: {params.soundhw!r} is no list such as 'ac97,sb16'"
    if "," in params.vif_script:
        yield f"vif_script: {params.vif_script!r} has a comma"
    elif params.vif_script.startswith("/"):
        yield from missing("vif_script", params.vif_script, exists)
    try:
        parse_cpu_mask(params.cpu_mask)
    except ValueError as error:
        yield f"cpu_mask: {error}"


def missing(name: str, value: str, exists: Exists) -> Iterator[str]:
    """A line if a parameter does not name a file of this node; an empty one names none."""
    if value and not value.startswith("/"):
        yield f"{name}: {value!r} is not an absolute path"
    elif value and not exists(Path(value)):
        yield f"{name}: {value} is not on this node"


def check_processors(params: XenParams, guest: Guest, here: int) -> None:
    """@raise HypervisorError: the guest has not so many, or the node (which has `here`) has not."""
    if params.cpu_cap > FULL * guest.vcpus:
        raise HypervisorError(
            f"cpu_cap: {params.cpu_cap} is more than {FULL * guest.vcpus}, all that {guest.vcpus} processors can do"
        )
    for mask in masks(params, guest):
        if mask is not None and max(mask) >= here:
            raise HypervisorError(
                f"cpu_mask: processor {max(mask)} is not on this node, which has processors 0 to {here - 1}"
            )


def masks(params: XenParams, guest: Guest) -> Sequence[Mask]:
    """For each of its processors. @raise HypervisorError: they do not fit."""
    try:
        return masks_for(params.cpu_mask, guest.vcpus)
    except ValueError as error:
        raise HypervisorError(f"cpu_mask: {error}")
