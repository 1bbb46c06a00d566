"""Which values of the LXC parameters make sense."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ganeti_tx.model.hypervisors.lxc import HYPERVISOR, LxcParams
from ganeti_tx.node.hypervisor.affinity import Mask, parse_cpu_mask
from ganeti_tx.node.hypervisor.parameters import refuse_any, typed_params


def lxc_params(hvparams: Mapping[str, Any]) -> LxcParams:
    """The filled parameters with their types. @raise HypervisorError: one has the wrong type."""
    return typed_params(hvparams, LxcParams, "LXC")


def checked(params: LxcParams) -> LxcParams:
    """The same. @raise HypervisorError: all faults in one text."""
    refuse_any(faults(params))
    return params


def cpus_of(params: LxcParams) -> Mask:
    """The processors that a container may use, which has none of its own to pin one by one; None: all.

    @raise ValueError: it is no mask for the whole of one.
    """
    if not params.cpu_mask:
        return None
    masks = parse_cpu_mask(params.cpu_mask)
    if len(masks) != 1:
        raise ValueError(f"{params.cpu_mask!r} has {len(masks)} masks, but a container has one for all its processors")
    return masks[0]


def faults(params: LxcParams) -> Iterator[str]:
    """A line for each value that cannot be."""
    yield from HYPERVISOR.wrong_values(msgspec.structs.asdict(params))
    try:
        cpus_of(params)
    except ValueError as error:
        yield f"cpu_mask: {error}"
