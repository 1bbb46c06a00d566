"""Instances are directories, in which a script starts and stops everything."""

from ganeti_tx.model.base import Wire
from ganeti_tx.model.hypervisor import ConsoleKind, HypervisorKind


class ChrootParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How an instance in a chroot is started."""

    init_script: str = "/ganeti-chroot"


HYPERVISOR = HypervisorKind(
    params=ChrootParams, consoles=frozenset({ConsoleKind.SSH}), kept=("chroot-hypervisor", ""), driver="chroot"
)
