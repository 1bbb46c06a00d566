"""Which values of the parameters that both hypervisors have make sense."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisor import Shape
from ganeti_tx.model.xen_values import unfit
from ganeti_tx.node.hypervisor.affinity import Mask, masks_for, parse_cpu_mask
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import Exists, XenParams
from ganeti_tx.node.hypervisor.xen.values import unwritable

_PREFIX = re.compile(r"sd|hd|xvd")
_SOUND = re.compile(r"[a-z0-9_]{1,40}(,[a-z0-9_]{1,40})*")


#: Where Xen looks for a script that is named without a path.
SCRIPTS = Path("/etc/xen/scripts")


def common_faults(params: XenParams, exists: Exists) -> Iterator[str]:
    """A line for each value that is not possible on this node."""
    if _PREFIX.fullmatch(params.blockdev_prefix) is None:
        yield f"blockdev_prefix: {params.blockdev_prefix!r} is none of sd, hd, xvd"
    if params.soundhw and _SOUND.fullmatch(params.soundhw) is None:
        yield f"soundhw: {params.soundhw!r} is no list such as 'ac97,sb16'"
    for name, value in msgspec.structs.asdict(params).items():
        if isinstance(value, str) and (fault := unwritable(name, value)):
            yield fault
    if "," in params.vif_script:
        yield f"vif_script: {params.vif_script!r} has a comma"
    elif params.vif_script.startswith("/") or exists(SCRIPTS):
        yield from missing("vif_script", str(SCRIPTS / params.vif_script) if params.vif_script else "", exists)
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
    shape = Shape(memory=guest.memory, vcpus=guest.vcpus, disks=len(guest.disks))
    refuse_any(unfit(msgspec.structs.asdict(params), shape))
    check_masks(params.cpu_mask, here)


def check_masks(cpu_mask: str, here: int) -> None:
    """@raise HypervisorError: one names a processor that the node has not, which has `here`."""
    for mask in parse_cpu_mask(cpu_mask):
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
