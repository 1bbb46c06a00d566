"""What differs between the two hypervisors of Xen."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from ganeti_tx.model.hypervisors.xen_hvm import XenHvmParams
from ganeti_tx.model.hypervisors.xen_pvm import XenPvmParams
from ganeti_tx.node.hypervisor.xen.guest import Guest

Exists = Callable[[Path], bool]
XenParams = XenPvmParams | XenHvmParams


class XenKind(Protocol):
    """Paravirtualised or fully virtualised instances."""

    @property
    def name(self) -> str:
        """Ganeti's name of it."""

    @property
    def lists_writes_by(self) -> Collection[str]:
        """Words of Xen's abilities, one of which it needs to know what a domain writes while its memory is sent."""

    def params(self, hvparams: Mapping[str, Any]) -> XenParams:
        """The filled parameters with their types. @raise HypervisorError: one has the wrong type."""

    def faults(self, hvparams: Mapping[str, Any], exists: Exists) -> Iterator[str]:
        """A line for each value that is not possible on this node, of which `exists` tells which files it has."""

    def password_file(self, hvparams: Mapping[str, Any]) -> str:
        """Where the password of the display is; empty for none."""

    def lines(self, guest: Guest) -> Iterator[str]:
        """Of the configuration, what only this one has. @raise HypervisorError: it cannot be written down."""
