"""Instances are directories, in which a script starts and stops everything."""

from collections.abc import Iterator

from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.hypervisor import ConsoleKind, HypervisorKind, Shape


class ChrootParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How an instance in a chroot is started."""

    init_script: str = "/ganeti-chroot"


def unfit(hvparams: Params, shape: Shape) -> Iterator[str]:
    """See `HypervisorKind.unfit`."""
    if shape.disks > 1:
        yield f"an instance in a chroot has one disk, which is its root, and not {shape.disks}"


HYPERVISOR = HypervisorKind(
    params=ChrootParams,
    consoles=frozenset({ConsoleKind.SSH}),
    console_program="chroot",
    unfit=unfit,
    kept=("chroot-hypervisor", ""),
    driver="chroot",
)
