"""What both hypervisors of Xen say of the values of their parameters."""

from collections.abc import Iterator, Mapping

from ganeti_tx.model.base import Params
from ganeti_tx.model.hypervisor import Shape, mask_misfits

#: Percent of one processor.
FULL = 100
BOUNDS: Mapping[str, tuple[int, int]] = {
    "cpu_cap": (0, 65535),
    "cpu_weight": (1, 65535),
    "migration_port": (1, 65535),
}


def unfit(hvparams: Params, shape: Shape) -> Iterator[str]:
    """See `HypervisorKind.unfit`."""
    yield from mask_misfits(hvparams, shape)
    cap, most = hvparams.get("cpu_cap"), FULL * shape.vcpus
    if isinstance(cap, int) and cap > most:
        yield f"cpu_cap: {cap} is more than {most}, all that {shape.vcpus} processors can do"
