"""The seam to a hypervisor whose machines take their disks along; the others are in `interfaces.py`."""

from collections.abc import Mapping
from typing import Any

from zope.interface import Interface

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.migration import DiskCopyProgress
from ganeti_tx.node.hypervisor.interfaces import TlsPair


class ICopiesDisks(Interface):
    """A hypervisor whose machines can take their disks along while they run.

    The copies end with the migration: when the machine has been sent they are whole, and part from the disks that it had.
    """

    async def offer_disks(instance: InstanceSpec, address: str, source: str = "") -> int:
        """Let the disks of a machine that is accepted be written by its old node; the port. @raise HypervisorError: why not.

        @param source: see `ILiveMigration.accept`.
        """

    async def copy_disks(
        instance: InstanceSpec,
        address: str,
        port: int,
        tls: TlsPair | None,
        source: str = "",
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin to copy the disks of a machine that runs there. @raise HypervisorError: why not; nothing is left of it then.

        @param told: see `ILiveMigration.send`.
        """

    async def copy_progress(instance_name: str) -> DiskCopyProgress:
        """How far that is; that it does not run any more, or its guest has shut down, is a fault of the copies."""
