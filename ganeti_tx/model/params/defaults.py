"""What a cluster has for instances that say nothing of their own."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ganeti_tx.model.base import Params


class GuestDefaults(Protocol):
    """A cluster's configuration has them, and what is told of a cluster."""

    @property
    def enabled_hypervisors(self) -> Sequence[str]:
        """The first is the default."""

    @property
    def hvparams(self) -> Mapping[Any, Params]:
        """Of each hypervisor."""

    @property
    def os_hvp(self) -> Mapping[str, Mapping[Any, Params]]:
        """Of each hypervisor, for an OS or a variant of it."""

    @property
    def nicparams(self) -> Mapping[Any, Params]:
        """Those of all interfaces are called "default"."""
